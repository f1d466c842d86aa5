"""How far step times are off, from the errors of families that had no part in the fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from simulator.calibration.runs import Predict
from simulator.engine.prices.constants import Constant, Shared
from simulator.engine.run import Mapped
from simulator.outcome.intervals import comparable
from simulator.outcome.step_error import PROBABILITIES
from simulator.units import Number
from simulator.validation.measured import MeasuredRun

OTHER = "other"


class Errors(NamedTuple):
    """Quantiles of measured over predicted at `PROBABILITIES`, and the runs and families behind them."""

    ratios: tuple[Number, ...]
    runs: int
    families: int


def errors(
    runs: Sequence[MeasuredRun],
    without: Mapping[str, tuple[Constant, ...]],
    predict: Predict,
    mapped: Mapped = map,
) -> dict[str, Errors]:
    """Return the errors of each class of runs.

    `without` are the constants of each family left out. Nothing comparable was ever measured for the class ``other``.
    """
    ratios: dict[str, list[float]] = {}
    families: dict[str, set[str]] = {}
    for run, ratio in zip(runs, mapped(partial(_ratio, dict(without), predict), runs), strict=True):
        kind = comparable(run.scenario)
        ratios.setdefault(kind, []).append(ratio)
        families.setdefault(kind, set()).add(run.family)
    found = {
        kind: Errors(tuple(map(float, np.quantile(values, PROBABILITIES))), len(values), len(families[kind]))
        for kind, values in ratios.items()
        if kind != OTHER
    }
    widest = _widest([one.ratios for one in found.values()])
    return found | {OTHER: Errors(widest, len(ratios.get(OTHER, ())), len(families.get(OTHER, ())))}


def _ratio(without: dict[str, tuple[Constant, ...]], predict: Predict, run: MeasuredRun) -> Number:
    return run.seconds / predict(run.scenario, Shared.of(without[run.family]))


def _widest(classes: Sequence[tuple[Number, ...]]) -> tuple[Number, ...]:
    """Return the lowest of each quantile below the median, the highest above it, and the median of the medians."""
    return tuple(
        min(ratios) if probability < 0.5 else max(ratios) if probability > 0.5 else float(np.median(ratios))
        for probability, ratios in zip(PROBABILITIES, zip(*classes, strict=True), strict=True)
    )


def text(found: Mapping[str, Errors]) -> str:
    """Return `calibration/residuals.yaml`."""
    lines = [
        "# Quantiles of measured over predicted step time, by class of run, of families left out of the fit of the",
        "# shared constants. Those of 10% and 90% are the 80% interval. `other` is what was never measured.",
        "# Written by `foretrain calibrate --runs`.",
        f"probabilities: [{', '.join(f'{probability:.2f}' for probability in PROBABILITIES)}]",
        "classes:",
        *(
            f"  {kind}: {{ratios: [{', '.join(f'{ratio:.3f}' for ratio in one.ratios)}], runs: {one.runs},"
            f" families: {one.families}}}"
            for kind, one in sorted(found.items())
        ),
        'source: "published step times of `foretrain validate`, docs/validation.md"',
    ]
    return "\n".join(lines) + "\n"
