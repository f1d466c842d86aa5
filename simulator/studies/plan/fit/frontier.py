"""The compute frontier: runs that no cheaper run beats, and the power law of their loss over FLOPs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from simulator.studies.plan.fit.runs import TrainingRuns
from simulator.units import Flops, Number


@dataclass(frozen=True)
class Frontier:
    flops: tuple[Flops, ...]
    losses: tuple[Number, ...]
    parameters: tuple[Number, ...]
    scale: Number
    exponent: Number
    """Loss = scale C^exponent, by least squares of logarithms."""


def frontier(runs: TrainingRuns) -> Frontier:
    """Return the runs with a lower loss than every run of as many FLOPs or fewer."""
    order = np.lexsort((runs.losses, runs.flops))
    best = np.inf
    kept = []
    for index in order:
        if runs.losses[index] < best:
            best = runs.losses[index]
            kept.append(index)
    flops, losses = runs.flops[kept], runs.losses[kept]
    exponent, scale = np.polyfit(np.log(flops), np.log(losses), 1) if len(kept) > 1 else (0.0, np.log(losses[0]))
    return Frontier(
        tuple(flops.tolist()),
        tuple(losses.tolist()),
        tuple(runs.parameters[kept].tolist()),
        float(np.exp(scale)),
        float(exponent),
    )
