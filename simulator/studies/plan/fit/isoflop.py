"""The best size at given budgets, from the runs alone: learning curves read at a budget, parabolas through them.

A size is read at a budget between two of its runs, on logarithmic scales. The minimum of a parabola through loss over
ln N is the best size (Hoffmann, arXiv 2203.15556, section 3.2), where it lies inside the sizes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from simulator.studies.plan.fit.runs import TrainingRuns
from simulator.units import Flops, Number

FEWEST_SIZES = 3
SAME: Number = 0.05
"""Relative difference of FLOPs of runs of one budget."""


@dataclass(frozen=True)
class Slice:
    """All sizes at one budget."""

    flops: Flops
    sizes: tuple[Number, ...]
    losses: tuple[Number, ...]
    best: Number
    """The size that was measured to be best."""
    minimum: Number | None
    """That of the parabola, where it has one among the sizes."""


@dataclass(frozen=True)
class IsoFlop:
    slices: tuple[Slice, ...]
    scale: Number | None
    exponent: Number | None
    """N = scale C^exponent through the minima; None with fewer than two."""


def isoflop(runs: TrainingRuns, budgets: Sequence[Flops] = ()) -> IsoFlop:
    """Return the sizes at each budget; at those of the runs where they share some, else at 1 and 3 of every decade."""
    chosen = list(budgets) or _shared(runs) or _decades(runs)
    slices = [found for flops in chosen if (found := at(runs, flops)) is not None]
    minima = [(one.flops, one.minimum) for one in slices if one.minimum is not None]
    if len(minima) < 2:
        return IsoFlop(tuple(slices), None, None)
    flops, sizes = np.log(np.array(minima, dtype=float)).T
    exponent, scale = np.polyfit(flops, sizes, 1)
    return IsoFlop(tuple(slices), float(np.exp(scale)), float(exponent))


def at(runs: TrainingRuns, flops: Flops) -> Slice | None:
    """Return the sizes that have runs on both sides of a budget."""
    read = {}
    for size, (costs, losses) in runs.curves.items():
        near = np.abs(costs / flops - 1) <= SAME
        if near.any():
            read[size] = float(losses[near].min())
        elif costs[0] <= flops <= costs[-1]:
            read[size] = float(np.exp(np.interp(np.log(flops), np.log(costs), np.log(losses))))
    if not read:
        return None
    best = min(read, key=read.__getitem__)
    return Slice(float(flops), tuple(read), tuple(read.values()), best, _minimum(read))


def _minimum(read: dict[float, float]) -> Number | None:
    if len(read) < FEWEST_SIZES:
        return None
    sizes = np.log(np.array(list(read)))
    bend, slope, _ = np.polyfit(sizes, np.log(np.array(list(read.values()))), 2)
    if bend <= 0:
        return None
    lowest = -slope / (2 * bend)
    return float(np.exp(lowest)) if sizes.min() <= lowest <= sizes.max() else None


def _shared(runs: TrainingRuns) -> list[Flops]:
    """Return the budgets at which several sizes were run."""
    order = np.argsort(runs.flops)
    groups: list[list[int]] = []
    for index in order:
        if groups and runs.flops[index] <= runs.flops[groups[-1][0]] * (1 + SAME):
            groups[-1].append(int(index))
        else:
            groups.append([int(index)])
    several = [group for group in groups if len(set(runs.parameters[group].tolist())) > FEWEST_SIZES]
    return [float(np.exp(np.log(runs.flops[group]).mean())) for group in several] if len(several) > 1 else []


def _decades(runs: TrainingRuns) -> list[Flops]:
    low, high = np.log10(runs.flops.min()), np.log10(runs.flops.max())
    every = [lead * 10.0**power for power in range(int(np.floor(low)), int(np.ceil(high)) + 1) for lead in (1, 3)]
    return [flops for flops in every if 10**low <= flops <= 10**high]
