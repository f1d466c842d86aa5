"""Refits the constants that runs share, on published step times.

Least squares on ln(predicted / measured) with a robust loss, every family with the same weight, and each constant held
to its prior; so few constants with strong priors that leaving a family out changes them little. Errors are nearly
linear in ln of a constant over its bounds, so that runs are left out by solving again with the same slopes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from simulator.engine.prices.constants import Constant, Shared
from simulator.engine.run import Mapped
from simulator.scenario.scenario import Scenario
from simulator.simulation import step_without_sharing
from simulator.units import Number, Seconds
from simulator.validation.measured import MeasuredRun

Predict = Callable[[Scenario, Shared], Seconds]
Vector = np.ndarray

SCALE = 0.06
"""Errors beyond this count less than squared: the spread of identical runs between records at P90 is 9%."""
STEP = 0.04
"""Change of ln of a constant by which slopes are taken."""
WHOLE = 5
"""Runs of a family that count in full; more share the same weight."""


@dataclass(frozen=True)
class Linear:
    """Errors, ln(predicted / measured), and what each gains for each constant."""

    errors: Vector
    slopes: Vector


def refit(
    runs: Sequence[MeasuredRun],
    constants: Sequence[Constant],
    predict: Predict,
    mapped: Mapped = map,
    *,
    rounds: int = 4,
) -> tuple[Constant, ...]:
    """Return the constants that predict `runs` best, none outside its bounds; `mapped` is given the runs.

    Slopes change so little on the way that they are taken once.
    """
    found, slopes = tuple(constants), slopes_of(runs, constants, mapped)
    for _ in range(rounds):
        shift = solve(runs, found, Linear(errors_of(runs, found, predict, mapped), slopes))
        found = moved(found, shift)
        if np.abs(shift).max() < 0.003:
            break
    return found


def errors_of(
    runs: Sequence[MeasuredRun], constants: Sequence[Constant], predict: Predict, mapped: Mapped = map
) -> Vector:
    """Return ln(predicted / measured) of each run, shape (runs,)."""
    return np.array(list(mapped(partial(_error, tuple(constants), predict), runs)))


def slopes_of(runs: Sequence[MeasuredRun], constants: Sequence[Constant], mapped: Mapped = map) -> Vector:
    """Return what ln of each step gains for ln of each constant, shape (runs, constants).

    Of the step without shared links, which is quick; a constant that a run does not depend on is not tried.
    """
    return np.array(list(mapped(partial(_slopes, tuple(constants)), runs)))


def _error(constants: tuple[Constant, ...], predict: Predict, run: MeasuredRun) -> Number:
    return float(np.log(predict(run.scenario, Shared.of(constants)) / run.seconds))


def _slopes(constants: tuple[Constant, ...], run: MeasuredRun) -> list[Number]:
    start = step_without_sharing(run.scenario, Shared.of(constants))
    slopes = [0.0] * len(constants)
    for column, constant in enumerate(constants):
        if constant.concerns(run.scenario):
            others = (
                constant.with_value(constant.value * np.exp(STEP)) if one is constant else one for one in constants
            )
            changed = step_without_sharing(run.scenario, Shared.of(others))
            slopes[column] = float(np.log(changed / start) / STEP)
    return slopes


def solve(runs: Sequence[MeasuredRun], constants: Sequence[Constant], linear: Linear, *, rounds: int = 20) -> Vector:
    """Return the change of ln of each constant that is best for the linear errors and the priors."""
    from scipy.optimize import lsq_linear

    point, prior, low, high = (
        np.log([getattr(constant, name) for constant in constants]) for name in ("value", "prior", "low", "high")
    )
    spread = np.array([constant.spread for constant in constants])
    weights = _weights(runs)
    shift = np.zeros(len(constants))
    for _ in range(rounds):
        now = linear.errors + linear.slopes @ shift
        robust = weights / SCALE / (1 + (now / SCALE) ** 2) ** 0.25
        matrix = np.vstack([linear.slopes * robust[:, None], np.diag(1 / spread)])
        target = np.concatenate([-linear.errors * robust, (prior - point) / spread])
        before, shift = shift, lsq_linear(matrix, target, (low - point - 1e-9, high - point + 1e-9)).x
        if np.abs(shift - before).max() < 1e-4:
            break
    return shift


def moved(constants: Sequence[Constant], shift: Vector) -> tuple[Constant, ...]:
    return tuple(
        replace(constant, value=float(np.clip(constant.value * np.exp(change), constant.low, constant.high)))
        for constant, change in zip(constants, shift, strict=True)
    )


def _weights(runs: Sequence[MeasuredRun]) -> Vector:
    """Return weights that give a family of `WHOLE` runs or more as much as any other."""
    sizes: dict[str, int] = {}
    for run in runs:
        sizes[run.family] = sizes.get(run.family, 0) + 1
    return np.array([(min(sizes[run.family], WHOLE) / sizes[run.family]) ** 0.5 for run in runs])


def rewritten(text: str, constants: Sequence[Constant]) -> str:
    """Return the text of `calibration/shared.yaml` with the values of `constants`."""
    values = {(constant.group, constant.key): constant.value for constant in constants}
    group, lines = "", []
    for line in text.splitlines():
        if heading := re.fullmatch(r"  (\w+):", line):
            group = heading[1]
        if (member := re.match(r"    ([^:]+): \{value: [\d.]+", line)) and (group, member[1]) in values:
            line = re.sub(r"value: [\d.]+", f"value: {values[group, member[1]]:.3f}", line)
        lines.append(line)
    return "\n".join(lines) + "\n"
