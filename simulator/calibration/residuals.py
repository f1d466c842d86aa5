"""The 80% intervals of step time, from the errors of families that had no part in the fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from simulator.calibration.runs import Predict
from simulator.engine.inputs import Constant, Shared
from simulator.intervals import comparable
from simulator.units import Number
from simulator.validation.measured import MeasuredRun

LOW, HIGH = 0.10, 0.90
OTHER = "other"


class Band(NamedTuple):
    """The 10th and 90th percentile of measured over predicted, and the runs and families behind them."""

    low: Number
    high: Number
    runs: int
    families: int


def bands(
    runs: Sequence[MeasuredRun], without: Mapping[str, tuple[Constant, ...]], predict: Predict
) -> dict[str, Band]:
    """Return the band of each class of runs.

    `without` are the constants of each family left out. Nothing comparable was ever measured for the class ``other``:
    its interval is as wide as the widest on each side.
    """
    ratios: dict[str, list[float]] = {}
    families: dict[str, set[str]] = {}
    for run in runs:
        kind = comparable(run.scenario)
        ratios.setdefault(kind, []).append(run.seconds / predict(run.scenario, Shared.of(without[run.family])))
        families.setdefault(kind, set()).add(run.family)
    found = {
        kind: Band(float(np.quantile(values, LOW)), float(np.quantile(values, HIGH)), len(values), len(families[kind]))
        for kind, values in ratios.items()
        if kind != OTHER
    }
    lowest, highest = min(band.low for band in found.values()), max(band.high for band in found.values())
    return found | {OTHER: Band(lowest, highest, len(ratios.get(OTHER, ())), len(families.get(OTHER, ())))}


def text(found: Mapping[str, Band]) -> str:
    """Return `calibration/residuals.yaml`."""
    lines = [
        "# 80% intervals of measured over predicted step time, by class of run: 10th and 90th percentile of the errors",
        "# of families left out of the fit of the shared constants. `other` is what was never measured.",
        "# Written by `foretrain calibrate --runs`.",
        "classes:",
        *(
            f"  {kind}: {{low: {band.low:.3f}, high: {band.high:.3f}, runs: {band.runs}, families: {band.families}}}"
            for kind, band in sorted(found.items())
        ),
        'source: "published step times of `foretrain validate`, docs/validation.md"',
    ]
    return "\n".join(lines) + "\n"
