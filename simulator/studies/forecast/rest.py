"""The rest of a run, simulated as the whole is: the steps that are left, at the step and rates that the log showed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import exp, isfinite

from simulator.engine import run
from simulator.engine.run import Mapped, Outcome, RunInput
from simulator.outcome import everything
from simulator.outcome.campaign import run_input, stretches
from simulator.outcome.cost import scaled
from simulator.outcome.results import Distribution
from simulator.outcome.step_error import StepError
from simulator.outcome.stretch import Stretch
from simulator.reliability.fleet import Failures, Stop
from simulator.scenario import Scenario
from simulator.simulation import step_factor
from simulator.studies.forecast.evidence import Evidence
from simulator.studies.forecast.rates import Corrected
from simulator.sums import added
from simulator.units import Count, Number, Seconds


@dataclass(frozen=True)
class Rest:
    """Simulated runs of what is left, from now on."""

    run: RunInput
    outcomes: tuple[Outcome, ...]
    error: StepError

    @property
    def stretches(self) -> tuple[Stretch, ...]:
        """The time that is left of each run, by what the time of a step does to it."""
        return stretches(self.run, self.outcomes)

    @property
    def progress(self) -> bool:
        """Whether every run ends."""
        return all(outcome.progress for outcome in self.outcomes)

    def left(self) -> Distribution:
        """Return the wall clock that is left."""
        return self._wall_clock(0.0)

    def whole(self, elapsed: Seconds) -> Distribution:
        """Return the wall clock of the whole run."""
        return self._wall_clock(elapsed)

    def _wall_clock(self, elapsed: Seconds) -> Distribution:
        runs = after(self.stretches, elapsed)
        ends = [one.growing + one.fixed for one in runs]
        return everything.wall_clock(added(ends) / len(ends), runs, self.error)

    def goodput(self) -> Distribution:
        """Return useful work over wall clock of what is left."""
        trains = [outcome.parts.get("train", 0.0) for outcome in self.outcomes]
        mean = added(outcome.goodput for outcome in self.outcomes) / len(self.outcomes)
        return everything.goodput(mean, trains, self.stretches, self.error)


def after(runs: Sequence[Stretch], elapsed: Seconds) -> tuple[Stretch, ...]:
    """Return whole runs, of which `elapsed` has passed."""
    return tuple(one._replace(fixed=one.fixed + elapsed) for one in runs)


def dollars(wall: Distribution, per_second: Number) -> Distribution:
    """Return what a time costs."""
    return scaled(wall, per_second)


def what_is_left(scenario: Scenario, evidence: Evidence, step: Seconds) -> RunInput:
    """Return the rest of a run whose step takes `step`."""
    again = 1 / (1 - scenario.training.precision.skipped_steps)
    later = replace(scenario, failures=_later(scenario.failures, evidence.elapsed))
    return run_input(later, again * evidence.left * step, step, step_factor(scenario))


@dataclass(frozen=True)
class Campaign:
    """How the rest is simulated, whatever is changed for it."""

    seed: int
    runs: Count
    really: Corrected
    error: StepError
    mapped: Mapped

    def play(self, rest: RunInput, most: Count | None = None) -> Rest:
        """Return the simulated runs of the rest, `most` of them where given."""
        runs = self.runs if most is None else min(self.runs, most)
        return Rest(rest, run.spread(rest, self.seed, runs, self.mapped, self.really), self.error)


def _later(failures: Failures, elapsed: Seconds) -> Failures:
    """Return the failures as they are once `elapsed` of the run has passed: fewer defects of new hosts, stops ahead."""
    burn_in, planned = failures.burn_in, failures.planned
    if burn_in is not None:
        burn_in = replace(burn_in, share=burn_in.share * exp(-elapsed / burn_in.time) if isfinite(elapsed) else 0.0)
    if isinstance(planned, tuple):
        planned = tuple(Stop(at=stop.at - elapsed, time=stop.time) for stop in planned if stop.at > elapsed)
    return replace(failures, burn_in=burn_in, planned=planned)
