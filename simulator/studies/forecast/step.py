"""The step of the rest of a run: the prediction, corrected by the steps that were measured.

What runs of one source have in common and what each adds are the same for all steps of one run: the log shows both, and
they shrink to what its mean leaves open. Neighbouring steps are alike, so that n of them are no n measurements: the
mean is judged by the means of batches of successive steps (Schmeiser, 1982: 10 to 30 batches), more widely where
batches are still alike. What no log shows of its future stays: days that are not alike, further changes, and noise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log, log1p, sqrt

import numpy as np

from simulator.measured.disturbances import STEPS, Disturbances
from simulator.measured.series import Step
from simulator.outcome.step_error import SURE, Reason, StepError
from simulator.outcome.student import DEGREES, quantile
from simulator.studies.forecast.belief import Belief, LogDensity
from simulator.units import Count, Number, Seconds

MOST_BATCHES = 20
FEWEST_BATCHES = 8
"""With fewer, a range of the mean becomes long and unsure (Schmeiser, as a report of 1980: eight to ten suffice)."""
NOISE: Number = 0.02
"""Prior standard deviation of one step in ln: steps of public logs (Megatron-LM's tests, DeepSpeed, nanoGPT) scatter by
0.1 to 3% around their level."""
NOISE_DEGREES = 1
"""Weight of that prior, in degrees of freedom."""
DAYS: Number = 0.015
"""Standard deviation in ln of the level of one day around that of the run: heat alone moves the throughput of Llama 3
by 1 to 2% over a day (arXiv 2407.21783, 3.3.4); twentieths of public logs differ by 0.3 to 3% where nothing broke."""
DAY: Seconds = 86400.0
TAIL = 1.2815515655446004
"""P90 of a normal distribution."""
MOST_CHANGES = 1.0
"""Further changes of level that move the mean of the rest: more of them take one another back."""


@dataclass(frozen=True)
class StepForecast:
    """Measured over predicted step time, for the rest of a run."""

    prior: StepError
    ratio: Number
    """Median of the posterior, over the prediction."""
    error: StepError
    """What is not known around it."""
    batches: Count
    measured: Number | None
    """Mean of the log, over the prediction, after its last change of level."""


@dataclass(frozen=True)
class Level:
    """What the steps of a log say of their level, in ln of measured over predicted."""

    mean: Number
    se: Number
    """Of the mean; Student t with `degrees`."""
    degrees: Number
    batches: Count
    noise: Number
    """Standard deviation of a batch."""
    batch: Number
    """Steps of a batch."""


def forecast_step(
    predicted: Seconds, prior: StepError, steps: Sequence[Step], found: Disturbances, left: Count
) -> StepForecast:
    """Return what a step of the remaining `left` takes, over the prediction.

    A step that the scenario gives is no prediction: the log takes its place.
    """
    kept = since_the_last_change(steps, found)
    if not kept:
        return StepForecast(prior, prior.median, StepError(1.0, prior.reasons), 0, None)
    level = measured_level(kept, predicted)
    belief = _belief(level, prior)
    middle = log(belief.at(0.5))
    half = log(belief.at(0.9)) - log(belief.at(0.1))
    reasons = (
        ("error of the mean of correlated steps", half / 2 / quantile(0.9)),
        *((what, sd * TAIL / quantile(0.9)) for what, sd in _ahead(level, steps, kept, found, left, predicted)),
    )
    told = tuple(Reason(what, sd) for what, sd in sorted(reasons, key=lambda one: -one[1]) if sd > 0)
    return StepForecast(prior, exp(middle), StepError(1.0, told) if told else SURE, level.batches, exp(level.mean))


def since_the_last_change(steps: Sequence[Step], found: Disturbances) -> list[Step]:
    """Return the steps at the level that the log ends with; the last quarter where they grow little by little."""
    if found.slope_per_1000:
        return list(steps[-max(len(steps) // 4, STEPS) :])
    if not found.changes:
        return list(steps)
    last = found.changes[-1].step
    start = max(place for place, one in enumerate(steps) if one.number == last)
    return list(steps[start:])


def measured_level(steps: Sequence[Step], predicted: Seconds) -> Level:
    """Return the mean of steps in ln over `predicted`, and its error by the means of batches."""
    count = max(min(MOST_BATCHES, len(steps) // STEPS), min(FEWEST_BATCHES, len(steps)))
    seconds = np.array([one.seconds for one in steps])
    weights = np.array([float(one.steps) for one in steps])
    parts = np.array_split(np.arange(len(steps)), count)
    means = np.log([np.average(seconds[part], weights=weights[part]) / predicted for part in parts])
    size = float(weights.sum()) / count
    mean = log(float(np.average(seconds, weights=weights)) / predicted)
    squares = float(np.sum((means - means.mean()) ** 2)) + NOISE_DEGREES * NOISE**2 / size
    degrees = count - 1 + NOISE_DEGREES
    noise = sqrt(squares / degrees)
    se = noise * sqrt(_alike(means) / count)
    return Level(mean, se, float(degrees), count, noise, size)


def _alike(means: np.ndarray) -> Number:
    """Return the factor on the variance of a mean whose batches follow their neighbours, as an AR(1) process does."""
    if len(means) < MOST_BATCHES // 2:
        return 1.0
    apart = means - means.mean()
    whole = float(np.sum(apart**2))
    follows = float(np.sum(apart[1:] * apart[:-1])) / whole if whole > 0 else 0.0
    follows = min(max(follows, 0.0), 0.8)
    return (1 + follows) / (1 - follows)


def _belief(level: Level, prior: StepError) -> Belief:
    centres = [(level.mean, max(level.se, 1e-9))]
    densities = [_student(level.mean, max(level.se, 1e-9), level.degrees)]
    if prior.sd_ln:
        centres.append((log(prior.median), prior.sd_ln))
        densities.append(_student(log(prior.median), prior.sd_ln, DEGREES))
    return Belief.of(tuple(centres), *densities)


def _student(centre: Number, scale: Number, degrees: Number) -> LogDensity:
    return lambda points: -(degrees + 1) / 2 * np.log1p(((points - centre) / scale) ** 2 / degrees)


def _ahead(
    level: Level, steps: Sequence[Step], kept: Sequence[Step], found: Disturbances, left: Count, predicted: Seconds
) -> list[tuple[str, Number]]:
    """Return why the mean of the rest is not that of the steps so far, each as a standard deviation in ln."""
    step = predicted * exp(level.mean)
    seen = sum(one.steps for one in kept)
    past, later = (DAYS**2 / max(count * step / DAY, 1.0) for count in (seen, left))
    days = sqrt(max(past - level.se**2, 0.0) + later)
    rest = level.noise * sqrt(level.batch / left)
    ahead = [("one day is not another: heat, other jobs", days), ("noise of the steps that are left", rest)]
    if found.changes:
        sizes = [log(one.after_s / one.before_s) for one in found.changes]
        often = min(len(sizes) / sum(one.steps for one in steps) * left, MOST_CHANGES)
        # A change at any moment of the rest holds for half of it; the mean of its square is a third.
        ahead.append(("further changes of level", sqrt(sum(size**2 for size in sizes) / len(sizes) * often / 3)))
    if found.slope_per_1000:
        grown = abs(found.slope_per_1000) / 1000 * min(left, sum(one.steps for one in steps)) / 2
        ahead.append(("drift that goes on, or ends", log1p(grown / step)))
    return ahead
