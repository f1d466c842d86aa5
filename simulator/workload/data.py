"""Samples of uneven length as microbatches: how many tokens each has, padding included, and how much attention.

The cost of a microbatch has two measures. Its tokens T, padding included, take part in every product. Attention inside
each sample costs the sum S of squared lengths. A microbatch of b samples of n tokens has T = b n and S = b n^2, so that
a microbatch with any T and S costs what T^2 / S samples of S / T tokens cost.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NamedTuple

import numpy as np

from simulator.random import stream
from simulator.workload.lengths.base import Lengths

POOL = 4096
"""Microbatches that are drawn to stand for all."""
SAMPLES = 400_000
"""Most samples that these have together; with longer microbatches fewer are drawn."""
LEAST = 16
"""Microbatches that are drawn however long they are."""


@dataclass(frozen=True, kw_only=True)
class Data:
    """Samples of different lengths, and how they make microbatches."""

    lengths: Lengths
    """How long samples are; none is longer than `sequence_length`."""
    packing: Literal["none", "pad", "greedy", "padding-free"] = "pad"
    """How samples fill a microbatch: each padded to `sequence_length` (`none`) or to the longest of the microbatch
    (`pad`), joined into sequences of `sequence_length` with attention inside samples (`greedy`), or joined without any
    padding (`padding-free`)."""
    batch_by: Literal["samples", "tokens"] = "samples"
    """What `microbatch` and `global_batch` count: samples, or as many as fit into the tokens of that many sequences of
    `sequence_length`. Of `greedy` packing they always count sequences, and of `none` samples."""


class Shapes(NamedTuple):
    """A pool of microbatches, one entry each."""

    tokens: np.ndarray
    """Padding included."""
    squares: np.ndarray
    """Sum of squared lengths that attention goes over, padding included where kernels see it."""
    real: np.ndarray
    """Tokens of samples."""
    real_squares: np.ndarray

    @property
    def alike(self) -> bool:
        """Whether all microbatches are the same."""
        return bool(np.ptp(self.tokens) == 0 and np.ptp(self.squares) == 0)

    @property
    def padding(self) -> float:
        """Share of the tokens that is padding."""
        return 1.0 - float(self.real.sum() / self.tokens.sum())


class Filling(NamedTuple):
    """What packing needs to know."""

    sequence: int
    microbatch: int
    by_tokens: bool

    @property
    def room(self) -> int:
        return self.sequence * self.microbatch


def _alone(rows: np.ndarray, fill: Filling) -> Shapes:
    """Pad every sample to the sequence length."""
    padded = np.full(rows.shape, float(fill.sequence))
    return _of(padded.sum(1), (padded**2).sum(1), rows)


def _padded(rows: np.ndarray, fill: Filling) -> Shapes:
    """Pad every sample to the longest of its microbatch."""
    longest, count = rows.max(1), (rows > 0).sum(1)
    return _of(longest * count, longest**2 * count, rows)


def _joined(rows: np.ndarray, fill: Filling) -> Shapes:
    """Join the samples of a microbatch."""
    return _of(rows.sum(1), (rows**2).sum(1), rows)


def _filled(rows: np.ndarray, fill: Filling) -> Shapes:
    """Join samples into sequences, whose rest is padding that attends to itself."""
    rest = fill.sequence - rows.reshape(len(rows) * fill.microbatch, -1).sum(1)
    squares = (rows**2).sum(1) + (rest**2).reshape(len(rows), -1).sum(1)
    return _of(np.full(len(rows), float(fill.room)), squares, rows)


def _of(tokens: np.ndarray, squares: np.ndarray, rows: np.ndarray) -> Shapes:
    return Shapes(tokens, squares, rows.sum(1), (rows**2).sum(1))


PACKINGS: dict[str, Callable[[np.ndarray, Filling], Shapes]] = {
    "none": _alone,
    "pad": _padded,
    "greedy": _filled,
    "padding-free": _joined,
}
PADS = ("pad",)
"""Packings in which a microbatch has as many tokens as its longest sample times the number of its samples."""
BY_EITHER = ("pad", "padding-free")
"""Packings whose microbatches may count samples or tokens."""


@lru_cache(maxsize=64)
def shapes(data: Data, sequence: int, microbatch: int) -> Shapes:
    """Return a pool of microbatches, the same one whenever it is asked for."""
    fill = Filling(sequence, microbatch, data.batch_by == "tokens")
    random = stream(0, "data")
    if data.packing == "greedy":
        rows = _sequences(data.lengths, random, fill)
    elif fill.by_tokens and data.packing in BY_EITHER:
        rows = _budgets(data, random, fill)
    else:
        count = max(min(POOL, SAMPLES // microbatch), LEAST)
        rows = data.lengths.drawn(random, count * microbatch, sequence).reshape(count, microbatch)
    return PACKINGS[data.packing](rows, fill)


def _sequences(lengths: Lengths, random: np.random.Generator, fill: Filling) -> np.ndarray:
    """Return microbatches of sequences that are filled with samples, one after the other, until the next is too long.

    A row has the samples of a microbatch, those of one sequence after those of another, zeros where there are no more.
    """
    drawn = lengths.drawn(random, SAMPLES // 4, fill.sequence)
    found = _grouped(drawn, lambda count, total, longest: total <= fill.sequence, POOL * fill.microbatch)
    whole = max(len(found) // fill.microbatch, 1)
    need = whole * fill.microbatch
    found = (found * (need // len(found) + 1))[:need]
    return _table(found).reshape(whole, -1)


def _budgets(data: Data, random: np.random.Generator, fill: Filling) -> np.ndarray:
    """Return microbatches of as many samples as fit into a number of tokens, padding included."""
    drawn = data.lengths.drawn(random, SAMPLES // 4, fill.sequence)
    if data.packing in PADS:
        return _table(_grouped(drawn, lambda count, total, longest: count * longest <= fill.room, POOL))
    return _table(_grouped(drawn, lambda count, total, longest: total <= fill.room, POOL))


def _grouped(lengths: np.ndarray, fits: Callable[[int, float, float], bool], most: int) -> list[list[float]]:
    """Return up to `most` groups of samples in their order, each closed by the sample that no longer fits."""
    groups: list[list[float]] = []
    open_group: list[float] = []
    total = longest = 0.0
    for length in lengths.tolist():
        if open_group and not fits(len(open_group) + 1, total + length, max(longest, length)):
            groups.append(open_group)
            open_group, total, longest = [], 0.0, 0.0
            if len(groups) == most:
                return groups
        open_group.append(length)
        total, longest = total + length, max(longest, length)
    return groups or [open_group]


def _table(groups: list[list[float]]) -> np.ndarray:
    """Return the groups as rows of one length, zeros behind."""
    table = np.zeros((len(groups), max(map(len, groups))))
    for row, group in zip(table, groups, strict=True):
        row[: len(group)] = group
    return table
