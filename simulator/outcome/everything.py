"""P10, P50 and P90 of a run with everything that is not known: luck, rates and times of recovery, and the step itself.

Runs are simulated with what failures and repairs may be; the error of the step is integrated over each of them, not
drawn: a step that takes f times its prediction stretches a run of `growing` and `fixed` seconds to f growing + fixed.
The chance that a run is longer than its own P90 is 10% by the same sum that gives the chance to miss a deadline.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import inf, isfinite

import numpy as np

from simulator.engine.run import Outcome
from simulator.outcome.results import Distribution, RunResult
from simulator.outcome.step_error import SURE, StepError
from simulator.outcome.stretch import Stretch, Stretches
from simulator.units import Number, Seconds, Share

PERCENTILES: tuple[Share, ...] = (0.10, 0.50, 0.90)
PARTS = 50
"""Equal parts of the distribution of the step that goodput is looked at in."""
ROUNDS = 60
"""Halvings in the search for a percentile."""


def with_every_doubt(
    happened: RunResult, runs: Sequence[Stretch], outcomes: Sequence[Outcome], error: StepError
) -> RunResult:
    """Return the result of a run whose percentiles hold every doubt, and whose means are those of runs as predicted."""
    if not happened.progress:
        return happened
    trains = [outcome.parts.get("train", 0.0) for outcome in outcomes]
    return replace(
        happened,
        wall_clock_s=wall_clock(happened.wall_clock_s.mean, runs, error),
        goodput=goodput(happened.goodput.mean, trains, runs, error),
    )


def wall_clock(mean: Seconds, runs: Sequence[Stretch], error: StepError) -> Distribution:
    """Return the wall clock with every doubt around a mean of simulated runs.

    The mean stays that of the runs as predicted: Student t in ln has none.
    """
    return _distribution(mean, _percentiles(runs, error))


def _distribution(mean: Number, percentiles: Sequence[Number] | np.ndarray) -> Distribution:
    low, middle, high = map(float, percentiles)
    return Distribution(mean=mean, p10=low, p50=middle, p90=high)


def _percentiles(runs: Sequence[Stretch], error: StepError) -> list[Number]:
    many = Stretches(runs)
    if error is SURE or not error.sd_ln:
        return [float(value) for value in _plain(np.where(np.isfinite(many.whole), many.whole, inf))]
    finite = many.whole[np.isfinite(many.whole)]
    if not len(finite):
        return [inf] * len(PERCENTILES)
    ends = float(finite.min()) * min(error.at(1e-6), 1.0), float(finite.max()) * max(error.at(1 - 1e-6), 1.0)

    def later(time: Seconds) -> Share:
        return many.later(time, error)

    return [_below(later, 1 - share, *ends) for share in PERCENTILES]


def _plain(values: np.ndarray) -> np.ndarray:
    """Return the percentiles of numbers that may be endless."""
    if np.isfinite(values).all():
        return np.asarray(np.percentile(values, [100 * share for share in PERCENTILES]))
    order = np.sort(values)
    return np.array([order[min(int(share * len(order)), len(order) - 1)] for share in PERCENTILES])


def _below(later: Callable[[Seconds], Share], chance: Share, low: Seconds, high: Seconds) -> Seconds:
    """Return the time that is exceeded with a chance; endless where more runs than that never end."""
    if later(high) > chance:
        return inf
    for _ in range(ROUNDS):
        middle = (low + high) / 2
        low, high = (middle, high) if later(middle) > chance else (low, middle)
    return (low + high) / 2


def goodput(mean: Share, trains: Sequence[Seconds], runs: Sequence[Stretch], error: StepError) -> Distribution:
    """Return useful work over wall clock with every doubt; what does not grow with the step is less of a long one."""
    middles = [(part + 0.5) / PARTS for part in range(PARTS)] if error.sd_ln else [0.5]
    shares = [
        _share(factor, train, run) for factor in map(error.at, middles) for train, run in zip(trains, runs, strict=True)
    ]
    return _distribution(mean, _plain(np.array(shares)))


def _share(factor: Number, train: Seconds, run: Stretch) -> Share:
    """Return the goodput of a run whose step takes `factor` times its prediction; nothing of one that never ends."""
    if not isfinite(run.growing):
        return 0.0
    whole = factor * run.growing + run.fixed
    return factor * train / whole if whole else 1.0
