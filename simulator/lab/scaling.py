"""A scaling study in minutes: byte-level GPTs of five sizes on the source of Python's standard library.

Each size is trained once; its loss on held-out text after a few numbers of tokens gives the rows that
`foretrain plan --fit` takes. The learning rate is constant after its warm-up, so that every reading is of a run that
could have ended there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import torch

from simulator.lab.byte_gpt import ByteGpt, Shape, model
from simulator.lab.corpus import corpus
from simulator.units import Count, Number

SHAPES = (Shape(1, 32), Shape(2, 48), Shape(2, 96), Shape(3, 128), Shape(4, 192))
"""12,288 to 1,769,472 parameters."""
BATCH = 16
READINGS = (25, 50, 100, 200, 400, 600, 800)
"""Steps of 16 x 128 tokens after which the loss is read: 51,200 to 1,638,400 tokens."""
RATE, WARM_UP = 3e-3, 20
HELD_OUT = 64
"""Sequences that a loss is read on."""


class Row(NamedTuple):
    parameters: Count
    tokens: Count
    loss: Number


def study(
    shapes: tuple[Shape, ...] = SHAPES,
    readings: tuple[int, ...] = READINGS,
    seed: int = 0,
    done: Callable[[bool], None] = lambda computed: None,
) -> Iterator[Row]:
    """Yield the loss of each size at each reading; `done` is told of every one."""
    training, held_out = (torch.from_numpy(part.astype(np.int64)) for part in corpus())
    for shape in shapes:
        for row in trained(shape, training, held_out, readings, seed):
            done(True)
            yield row


def trained(
    shape: Shape, training: torch.Tensor, held_out: torch.Tensor, readings: tuple[int, ...], seed: int
) -> Iterator[Row]:
    """Yield the loss of one size at each reading."""
    net = model(shape, seed)
    optimizer = torch.optim.AdamW(net.parameters(), lr=RATE, betas=(0.9, 0.95), weight_decay=0.1)
    random = torch.Generator().manual_seed(seed)
    probe = sequences(held_out, shape.context, HELD_OUT, torch.Generator().manual_seed(1))
    for step in range(1, max(readings) + 1):
        for group in optimizer.param_groups:
            group["lr"] = RATE * min(1.0, step / WARM_UP)
        optimizer.zero_grad()
        net(sequences(training, shape.context, BATCH, random)).backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
        if step in readings:
            yield Row(shape.parameters, step * BATCH * shape.context, _loss(net, probe))


def sequences(text: torch.Tensor, context: Count, count: Count, random: torch.Generator) -> torch.Tensor:
    """Return sequences from random places, one byte longer than the context."""
    starts = torch.randint(len(text) - context - 1, (count,), generator=random)
    return torch.stack([text[start : start + context + 1] for start in starts])


def _loss(net: ByteGpt, probe: torch.Tensor) -> float:
    with torch.no_grad():
        return float(net(probe))
