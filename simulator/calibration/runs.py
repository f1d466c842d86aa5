"""Refits the constants that runs share, on published step times.

Least squares on ln(predicted / measured) with a robust loss, every family with the same weight, and each constant held
to its prior; so few constants with strong priors that leaving a family out changes them little.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from simulator.engine.inputs import Constant, Shared
from simulator.scenario.scenario import Scenario
from simulator.units import Number, Seconds

Predict = Callable[[Scenario, Shared], Seconds]


@dataclass(frozen=True)
class Measured:
    """A run with its step time."""

    scenario: Scenario
    seconds: Seconds
    family: str


@dataclass(frozen=True)
class Refit:
    constants: tuple[Constant, ...]
    before: Number
    after: Number
    """Mean over families of the median error."""


SCALE = 0.06
"""Errors beyond this count less than squared: the spread of identical runs between records at P90 is 9%."""
MOST = 40
"""Rows of a family that the fit looks at, evenly spaced."""


def refit(runs: Sequence[Measured], constants: Sequence[Constant], predict: Predict, *, rounds: int = 4) -> Refit:
    """Return the constants that predict `runs` best, none outside its bounds."""
    from scipy.optimize import lsq_linear

    chosen = _thinned(runs)
    weights = _weights(chosen)
    start = np.log([constant.value for constant in constants])
    low = np.log([constant.low for constant in constants])
    high = np.log([constant.high for constant in constants])
    prior = np.log([constant.prior for constant in constants])
    spread = np.array([constant.spread for constant in constants])
    point = np.clip(start, low, high)
    first = errors = _errors(chosen, _shared(constants, point), predict)
    for _ in range(rounds):
        slopes = _slopes(chosen, constants, point, errors, predict)
        robust = weights / np.sqrt(1 + (errors / SCALE) ** 2) ** 0.5 / SCALE
        matrix = np.vstack([slopes * robust[:, None], np.diag(1 / spread)])
        target = np.concatenate([-errors * robust, (prior - point) / spread])
        move = lsq_linear(matrix, target, (low - point - 1e-9, high - point + 1e-9)).x
        point = np.clip(point + move, low, high)
        errors = _errors(chosen, _shared(constants, point), predict)
        if np.abs(move).max() < 0.003:
            break
    fitted = tuple(constant.with_value(float(np.exp(value))) for constant, value in zip(constants, point, strict=True))
    return Refit(fitted, _score(chosen, first), _score(chosen, errors))


def _thinned(runs: Sequence[Measured]) -> list[Measured]:
    families: dict[str, list[Measured]] = {}
    for run in runs:
        families.setdefault(run.family, []).append(run)
    return [
        family[int(index)]
        for family in families.values()
        for index in np.linspace(0, len(family) - 1, min(MOST, len(family)))
    ]


def _weights(runs: Sequence[Measured]) -> np.ndarray:
    """Return weights that give a family of five runs or more as much as any other."""
    sizes: dict[str, int] = {}
    for run in runs:
        sizes[run.family] = sizes.get(run.family, 0) + 1
    return np.array([(min(sizes[run.family], 5) / sizes[run.family]) ** 0.5 for run in runs])


def _shared(constants: Sequence[Constant], point: np.ndarray) -> Shared:
    return Shared.of(
        constant.with_value(float(np.exp(value))) for constant, value in zip(constants, point, strict=True)
    )


def _errors(runs: Sequence[Measured], shared: Shared, predict: Predict) -> np.ndarray:
    return np.array([np.log(predict(run.scenario, shared) / run.seconds) for run in runs])


def _slopes(
    runs: Sequence[Measured], constants: Sequence[Constant], point: np.ndarray, errors: np.ndarray, predict: Predict
) -> np.ndarray:
    """Return what each error gains for each constant, by a step of 4%, where a run depends on it."""
    slopes = np.zeros((len(runs), len(constants)))
    for column, constant in enumerate(constants):
        moved = point.copy()
        moved[column] += 0.04
        shared = _shared(constants, moved)
        for row, run in enumerate(runs):
            if constant.concerns(run.scenario):
                slopes[row, column] = (np.log(predict(run.scenario, shared) / run.seconds) - errors[row]) / 0.04
    return slopes


def _score(runs: Sequence[Measured], errors: np.ndarray) -> float:
    families: dict[str, list[float]] = {}
    for run, error in zip(runs, errors, strict=True):
        families.setdefault(run.family, []).append(abs(np.expm1(error)))
    return float(np.mean([np.median(values) for values in families.values() if len(values) >= 5]))


def by_name(constants: Sequence[Constant]) -> Mapping[str, Constant]:
    return {constant.name: constant for constant in constants}
