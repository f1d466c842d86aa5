"""Where a run has left what was predicted of it, and since when."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp
from statistics import median
from typing import Literal, NamedTuple

from simulator.measured.disturbances import STEPS, Disturbances
from simulator.measured.series import Step
from simulator.outcome.step_error import StepError
from simulator.studies.forecast.evidence import Evidence
from simulator.studies.forecast.rates import Factor
from simulator.units import Count, Seconds, Share

RARE: Share = 0.1
"""Chance of so many failures, or of so few, that is worth an alarm: what is outside an 80% range, on its side."""
BLOCKS = 20


class Alarm(NamedTuple):
    """One quantity that is out of its predicted range."""

    what: Literal["step", "failures", "restart"]
    since: Count | None
    """The first iteration of the stretch that is out of range; None where the whole run so far is."""
    value: float
    low: float
    high: float

    @property
    def above(self) -> bool:
        return self.value > self.high

    def as_dict(self) -> dict[str, float | str | None]:
        return self._asdict()


def of_step(steps: Sequence[Step], found: Disturbances, predicted: Seconds, error: StepError) -> Alarm | None:
    """Return since when steps are out of the 80% range that was predicted; None where they end inside it."""
    if not error.sd_ln:
        return None
    low, high = predicted * error.low, predicted * error.high
    outside: list[Sequence[Step]] = []
    for part in reversed(_parts(steps, found)):
        level = median(one.seconds for one in part)
        if low <= level <= high or (outside and (level > high) != (median(o.seconds for o in outside[0]) > high)):
            break
        outside.append(part)
    if not outside:
        return None
    first = outside[-1][0]
    since = None if first is steps[0] else first.number
    return Alarm("step", since, median(one.seconds for one in outside[0]), low, high)


def _parts(steps: Sequence[Step], found: Disturbances) -> list[Sequence[Step]]:
    """Return the stretches of steps between changes of level; blocks where steps grow little by little."""
    if found.slope_per_1000:
        size = max(len(steps) // BLOCKS, STEPS)
        cuts = list(range(0, len(steps) - size + 1, size)) or [0]
    else:
        places = {one.number: place for place, one in enumerate(steps)}
        cuts = sorted({0, *(places[one.step] for one in found.changes if one.step in places)})
    return [steps[start:end] for start, end in zip(cuts, [*cuts[1:], len(steps)], strict=True)]


def of_failures(evidence: Evidence, rate: float, factor: Factor) -> Alarm | None:
    """Return whether the run failed more or less often than predicted, with the doubt about its rate."""
    if not evidence.exposed:
        return None
    shares = [(part + 0.5) / BLOCKS / 5 for part in range(BLOCKS * 5)]
    means = [rate * evidence.exposed * factor.prior(share) for share in shares]
    low, high = _counts(means)
    if low <= evidence.failures <= high:
        return None
    return Alarm("failures", None, evidence.failures, low, high)


def _counts(means: Sequence[float]) -> tuple[Count, Count]:
    """Return the counts between which a Poisson number of one of these means lies in all but rare cases."""
    below, count, low, terms = 0.0, 0, None, [exp(-mean) for mean in means]
    while True:
        below += sum(terms) / len(terms)
        if low is None and below > RARE:
            low = count
        if below >= 1 - RARE or count > 20 * max(means) + 50:
            return (low if low is not None else count), count
        count += 1
        terms = [term * mean / count for term, mean in zip(terms, means, strict=True)]


def of_restarts(away: Sequence[Seconds], expected: Seconds, factor: Factor) -> Alarm | None:
    """Return whether restarts take longer or shorter than predicted."""
    if not away or factor.after is None:
        return None
    low, high = expected * factor.prior(RARE), expected * factor.prior(1 - RARE)
    mean = sum(away) / len(away)
    return None if low <= mean <= high else Alarm("restart", None, mean, low, high)
