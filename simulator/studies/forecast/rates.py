"""How often the rest of a run fails, and how long it is away then: what was predicted, corrected by what happened.

The number of failures in a time is Poisson around its rate. The prior of the rate is that of a fleet that nobody has
watched: lognormal, as wide as fleets differ, and as counts of few failures allow. Time away is a mean of few restarts.
Run i of the prior becomes run i of the posterior: the quantile that its rate has in the one is kept in the other, so
that without evidence nothing moves, and with much of it all runs have the rate of the log.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import inf, log, log1p, sqrt

import numpy as np

from simulator.engine.run import RunInput
from simulator.reliability.failures.exponential import Exponential
from simulator.reliability.fleet import Failures, Planned
from simulator.reliability.recovery.base import Recovery
from simulator.reliability.unknowns import FLEETS, TIMES, Unknowns
from simulator.studies.forecast.belief import Belief, lognormal, share_below
from simulator.studies.forecast.evidence import Evidence
from simulator.units import Count, Number, Seconds

SCATTER: Number = 0.5
"""Standard deviation over mean of one restart, as the default of `recovery.restart` has it; more where the log shows
more."""
WAITING: Number = 5.0
"""Times the predicted restart from which on a run with a given number of spares waited for one, which is simulated."""
VAGUE: Number = 10.0
"""Standard deviation in ln of a rate of which nothing was predicted."""
SEEN = Exponential(name="seen in the log", unit="job", mtbf=1.0)
"""The cause of failures that the scenario has none for."""


@dataclass(frozen=True)
class Factor:
    """What is believed of a factor on a rate or on a time: before the evidence, lognormal, and after it."""

    sd: Number
    """Of the prior, in ln."""
    after: Belief | None
    """None where there is no evidence."""

    def moved(self, prior: Number) -> Number:
        """Return the factor that the posterior has where the prior has `prior`."""
        return prior if self.after is None else self.after.at(share_below(prior, self.sd))

    @property
    def middle(self) -> Number:
        return 1.0 if self.after is None else self.after.at(0.5)

    def prior(self, share: Number) -> Number:
        return Belief.of(((0.0, self.sd),), lognormal(0.0, self.sd)).at(share)


@dataclass(frozen=True)
class Corrected:
    """What each simulated run of the rest meets, given what happened so far."""

    doubts: Unknowns
    rate: Factor
    away: Factor

    def __call__(self, planned: RunInput, number: Count) -> RunInput:
        """Return run `number` of the rest."""
        return replace(
            planned,
            failures=self._failures(planned, number),
            recovery=self._recovery(planned, number),
            save_cost=self.doubts.saved(planned.save_cost, number),
        )

    def _failures(self, planned: RunInput, number: Count) -> Failures:
        drawn = self.doubts.failures(planned.failures, number)
        if self.rate.after is None:
            return drawn
        expected = planned.failures.rate(planned.all_units)
        before = drawn.rate(planned.all_units) / expected if self.doubts.counts and expected else 0.0
        before = before or self.doubts.factor(number, "fleet", self.rate.sd)
        return replace(drawn, scale=drawn.scale * self.rate.moved(before) / (before if self.doubts.counts else 1.0))

    def _recovery(self, planned: RunInput, number: Count) -> Recovery:
        drawn = self.doubts.recovered(planned.recovery, number)
        if self.away.after is None:
            return drawn
        times = self.away.moved(self.doubts.factor(number, "recovery", self.away.sd))
        kept = planned.recovery.with_restarts(times)
        return replace(kept, detect=kept.detect.scaled(times), diagnose=kept.diagnose.scaled(times))


def corrected(run: RunInput, doubts: Unknowns, evidence: Evidence, load: Seconds) -> Corrected:
    """Return what the rest of `run` meets; `load` is the part of a restart that reads the save."""
    return Corrected(doubts, _rate(run, doubts.counts, evidence), _away(run, evidence, load))


def seen(run: RunInput, evidence: Evidence) -> RunInput:
    """Return the run with a cause of failures, where it has none and some happened."""
    failures = run.failures
    if failures.rate(run.all_units) > 0 or not evidence.failures or not evidence.exposed:
        return run
    cause = replace(SEEN, mtbf=evidence.exposed / evidence.failures)
    if failures.scale > 0:
        causes = (*failures.causes, replace(cause, mtbf=cause.mtbf * failures.scale))
        return replace(run, failures=replace(failures, causes=causes))
    return replace(run, failures=replace(failures, causes=(cause,), scale=1.0))


def _rate(run: RunInput, counts: Mapping[str, Number], evidence: Evidence) -> Factor:
    """Return the factor on the rates of failures."""
    rate = run.failures.rate(run.all_units)
    shares = [cause.rate(run.all_units.get(cause.unit, 0)) for cause in run.failures.causes if cause.interrupts]
    labels = [cause.label for cause in run.failures.causes if cause.interrupts]
    few = sum(
        (share / sum(shares)) ** 2 / counts[label]
        for share, label in zip(shares, labels, strict=True)
        if counts.get(label) and sum(shares)
    )
    sd = VAGUE if SEEN.name in labels else sqrt(FLEETS**2 + few)
    if not rate or not evidence.exposed:
        return Factor(sd, None)
    planned = run.failures.planned
    announced = 1 / planned.every if isinstance(planned, Planned) else 0.0

    exposed = evidence.elapsed if run.failures.exposure == "wall" else evidence.exposed

    def likelihood(points: np.ndarray) -> np.ndarray:
        expected = (np.exp(points) * rate + announced) * exposed
        return np.asarray(evidence.failures * np.log(expected) - expected)

    few_failures = evidence.failures + 0.5
    counted = log(few_failures / (rate * exposed)), 1 / sqrt(few_failures)
    return Factor(sd, Belief.of(((0.0, sd), counted), lognormal(0.0, sd), likelihood))


def restarts(run: RunInput, evidence: Evidence, load: Seconds) -> list[Seconds]:
    """Return how long the restarts so far took, the save's reading and those that waited for a spare left out."""
    most = WAITING * run.recovery.mean_down(run.units["gpu"]) if run.spares is not None else inf
    return [max(one - load, 0.1 * one) for one in evidence.away if 0 < one <= most]


def _away(run: RunInput, evidence: Evidence, load: Seconds) -> Factor:
    """Return the factor on the time from a failure to training again, the save's reading apart."""
    expected = run.recovery.mean_down(run.units["gpu"])
    took = restarts(run, evidence, load)
    if not took or not expected:
        return Factor(TIMES, None)
    mean = float(np.mean(took))
    scatter = max(float(np.std(took, ddof=1)) / mean if len(took) > 2 else 0.0, SCATTER)
    measured = log(mean / expected), sqrt(log1p(scatter**2 / len(took)))
    return Factor(TIMES, Belief.of(((0.0, TIMES), measured), lognormal(0.0, TIMES), lognormal(*measured)))
