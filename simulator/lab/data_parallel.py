"""Data parallelism for real: processes with the same weights, each with its part of a batch, gradients averaged.

Checks that the averaged gradient is the one of the whole batch in a single process, to float rounding; times a step and
its all-reduce; and measures, on all processes at once, the kernels that a step is made of.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import median
from time import perf_counter
from typing import Any, NamedTuple

import torch
from torch import distributed, nn

from simulator.lab import processes
from simulator.lab.byte_gpt import ByteGpt, Shape, model
from simulator.lab.kernels import Kernels
from simulator.units import Bytes, Count, Number, Seconds

RANKS = 4
SHAPE = Shape(4, 192)
BATCH = 8
"""Sequences of one process."""
STEPS, WARM_UP = 20, 5
MESSAGES = (1 << 12, 1 << 14, 1 << 16, 1 << 20, 1 << 23, 1 << 26)
REPEATS = 5
MOVED: Bytes = 5 * 4.0
"""Bytes an element that a kernel moves: forward one in and one out, backward two in and one out."""
STREAM = 1 << 24
"""Elements of a sum of vectors that no cache holds."""


class Setup(NamedTuple):
    shape: Shape = SHAPE
    batch: Count = BATCH
    steps: Count = STEPS
    largest: Bytes = float(MESSAGES[-1])
    """Of the all-reduces that are timed."""
    window: Seconds = 0.2
    """How long a kernel is repeated."""


class Measured(NamedTuple):
    difference: Number
    """Largest difference of the averaged gradient from that of the whole batch, over the largest gradient."""
    step: Seconds
    all_reduce: Seconds
    compute: Seconds
    kernels: Kernels


def experiment(ranks: Count = RANKS, setup: Setup | None = None) -> Measured:
    """Return what was measured; the slowest process counts."""
    answers: list[Measured] = processes.run(_rank, ranks, setup or Setup())
    first = answers[0]
    return first._replace(
        difference=max(one.difference for one in answers),
        step=max(one.step for one in answers),
        all_reduce=max(one.all_reduce for one in answers),
        compute=max(one.compute for one in answers),
        kernels=_slowest([one.kernels for one in answers]),
    )


def _rank(rank: int, ranks: int, setup: Setup) -> Measured:
    net = model(setup.shape)
    random = torch.Generator().manual_seed(7)
    text = torch.randint(256, (ranks * setup.batch, setup.shape.context + 1), generator=random)
    mine = text[rank * setup.batch : (rank + 1) * setup.batch]
    difference = _difference(net, mine, text)
    step, reduce, compute = _steps(net, mine, setup.steps)
    return Measured(difference, step, reduce, compute, _kernels(setup))


def _difference(net: ByteGpt, mine: torch.Tensor, whole: torch.Tensor) -> Number:
    net.zero_grad()
    net(mine).backward()
    averaged = _averaged(net)
    net.zero_grad()
    net(whole).backward()
    single = _flat(net)
    return float((averaged - single).abs().max() / single.abs().max())


def _averaged(net: nn.Module) -> torch.Tensor:
    """Return the mean gradient of all processes, in one message."""
    flat = _flat(net)
    distributed.all_reduce(flat)
    return flat / distributed.get_world_size()


def _flat(net: nn.Module) -> torch.Tensor:
    return torch.cat([weight.grad.flatten() for weight in net.parameters() if weight.grad is not None])


def _steps(net: ByteGpt, mine: torch.Tensor, steps: int) -> tuple[Seconds, Seconds, Seconds]:
    """Return the median step, all-reduce and rest of a step."""
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-4, fused=True)
    whole, reduces = [], []
    for _ in range(steps + WARM_UP):
        distributed.barrier()
        start = perf_counter()
        optimizer.zero_grad()
        net(mine).backward()
        distributed.barrier()
        between = perf_counter()
        averaged = _averaged(net)
        reduced = perf_counter()
        place = 0
        for weight in net.parameters():
            weight.grad = averaged[place : place + weight.numel()].view_as(weight)
            place += weight.numel()
        optimizer.step()
        distributed.barrier()
        whole.append(perf_counter() - start)
        reduces.append(reduced - between)
    step, reduce = median(whole[WARM_UP:]), median(reduces[WARM_UP:])
    return step, reduce, step - reduce


def _kernels(setup: Setup) -> Kernels:
    shape, tokens = setup.shape, setup.batch * setup.shape.context
    return Kernels(
        products=tuple((*one, _together(_product(*one), setup.window)) for one in products(shape, tokens)),
        elementwise=tuple((moved, _together(work, setup.window)) for moved, work in _memory_bound(shape, tokens)),
        bandwidth=3 * 4 * STREAM / _together(_sum(STREAM), setup.window),
        all_reduces=tuple(
            (float(size), _reduced(size)) for size in MESSAGES if size <= setup.largest for _ in range(REPEATS)
        ),
    )


def products(shape: Shape, tokens: Count) -> list[tuple[int, int, int]]:
    """Return the products of a layer and of the head: forward, gradient of the input, gradient of the weight."""
    hidden = shape.hidden
    weights = ((3 * hidden, hidden), (hidden, hidden), (4 * hidden, hidden), (hidden, 4 * hidden), (256, hidden))
    return [one for n, k in weights for one in ((tokens, n, k), (tokens, k, n), (n, k, tokens))]


def _product(m: int, n: int, k: int) -> Callable[[], object]:
    a, b, out = torch.randn(m, k), torch.randn(k, n), torch.empty(m, n)
    return lambda: torch.mm(a, b, out=out)


def _sum(elements: int) -> Callable[[], object]:
    a, b, out = torch.ones(elements), torch.ones(elements), torch.empty(elements)
    return lambda: torch.add(a, b, out=out)


def _memory_bound(shape: Shape, tokens: Count) -> list[tuple[Bytes, Callable[[], object]]]:
    """Return bytes and work of the kernels between products: norm, activation, residual, each forward and backward."""
    narrow, wide = torch.randn(tokens, shape.hidden), torch.randn(tokens, 4 * shape.hidden)
    norm, gelu = nn.LayerNorm(shape.hidden), nn.GELU()
    ones = [(narrow, norm), (wide, gelu), (narrow, lambda x: x + narrow)]
    return [(MOVED * x.numel(), _both_ways(x, kernel)) for x, kernel in ones]


def _both_ways(x: torch.Tensor, kernel: Callable[[torch.Tensor], torch.Tensor]) -> Callable[[], object]:
    given = x.clone().requires_grad_()
    grad = torch.ones_like(x)
    return lambda: torch.autograd.grad(kernel(given), given, grad)


def _together(work: Callable[[], object], window: Seconds) -> Seconds:
    """Return the mean time of one call while all processes do the same: they share the machine as in a step."""
    work()
    distributed.barrier()
    start, count = perf_counter(), 0
    while perf_counter() - start < window:
        work()
        count += 1
    return (perf_counter() - start) / count


def _reduced(size: int) -> Seconds:
    message = torch.ones(size // 4)
    distributed.barrier()
    start = perf_counter()
    distributed.all_reduce(message)
    return perf_counter() - start


def _slowest(kernels: list[Kernels]) -> Kernels:
    """Return the times of the slowest process for each kernel."""

    def worst(rows: Sequence[Sequence[tuple[Any, ...]]]) -> tuple[Any, ...]:
        return tuple((*one[0][:-1], max(each[-1] for each in one)) for one in zip(*rows, strict=True))

    return Kernels(
        worst([one.products for one in kernels]),
        worst([one.elementwise for one in kernels]),
        min(one.bandwidth for one in kernels),
        worst([one.all_reduces for one in kernels]),
    )
