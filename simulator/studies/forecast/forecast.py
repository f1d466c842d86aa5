"""The forecast of a run under way: the prediction is the prior, its log and its failures are the evidence."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf, isfinite
from typing import Any

from simulator.engine.run import Mapped, RunInput, mtbf, plan
from simulator.errors import ScenarioError
from simulator.measured.explained import Explanation, explain
from simulator.outcome.intervals import step_error
from simulator.outcome.results import Distribution, Result
from simulator.outcome.targets import missed
from simulator.outcome.unknown import unknown
from simulator.scenario import Scenario
from simulator.simulation import simulate, total_steps
from simulator.studies.forecast import alarms, rest
from simulator.studies.forecast.alarms import Alarm
from simulator.studies.forecast.evidence import Evidence, Told, gathered
from simulator.studies.forecast.levers import Lever, levers
from simulator.studies.forecast.rates import Corrected, corrected, restarts, seen
from simulator.studies.forecast.rest import Rest
from simulator.studies.forecast.step import StepForecast, forecast_step
from simulator.units import Number, Seconds


@dataclass(frozen=True)
class Forecast:
    """What a run under way will still do, beside what was predicted before it began."""

    scenario: Scenario
    explained: Explanation
    before: Result
    """The prediction, as ``foretrain run`` has it."""
    evidence: Evidence
    step: StepForecast
    really: Corrected
    predicted_rate: Number
    """Failures per second of training, as predicted."""
    rest: Rest
    targets: dict[str, Any]
    alarms: tuple[Alarm, ...]
    levers: tuple[Lever, ...]
    warnings: tuple[str, ...]
    dollars_per_second: Number

    @property
    def wall_clock_s(self) -> Distribution:
        """Of the whole run, from its begin."""
        return self.rest.whole(self.evidence.elapsed)

    @property
    def left_s(self) -> Distribution:
        return self.rest.left()

    @property
    def dollars(self) -> Distribution:
        """Of the whole run: spent and left."""
        return rest.dollars(self.wall_clock_s, self.dollars_per_second)

    @property
    def spent(self) -> Number:
        return self.evidence.elapsed * self.dollars_per_second

    @property
    def is_no(self) -> bool:
        """Whether a target is missed, or the run never ends."""
        return bool(self.targets.get("missed")) or not isfinite(self.left_s.p50)

    @property
    def rate(self) -> Number:
        """Return failures per second of training, the median of the posterior."""
        run = self.rest.run
        return run.failures.rate(run.all_units) * self.really.rate.middle


def forecast(
    text: str, name: str, scenario: Scenario, said: Told | None = None, mapped: Mapped = map, *, advise: bool = True
) -> Forecast:
    """Return what is to be expected of a run, given the text of its log, called `name`, and what else is `said`.

    Raises ScenarioError where the text is no log, not one of the scenario, or one of a run that is done.
    """
    total = total_steps(scenario)
    if not total:
        raise ScenarioError("training.duration: a forecast counts steps; give training.steps or training.tokens")
    explained = explain(text, name, scenario)
    before = simulate(scenario, mapped)
    error = step_error(scenario, before.step.parts_s)
    predicted = before.step.time_s
    down = scenario.recovery.mean_down(scenario.gpus)
    evidence = gathered(explained, scenario, total, said or Told(), down)
    step = forecast_step(predicted, error, evidence.steps, explained.found, evidence.left)
    planned = rest.what_is_left(scenario, evidence, predicted * step.ratio)
    left = seen(planned, evidence)
    tiers = plan(left).tiers
    load = tiers[0].load if tiers else 0.0
    really = corrected(left, unknown(scenario), evidence, load)
    campaign = rest.Campaign(scenario.seed, scenario.runs, really, step.error, mapped)
    played = campaign.play(left)
    per_second = _dollars_per_second(scenario, before)
    made = Forecast(
        scenario=scenario,
        explained=explained,
        before=before,
        evidence=evidence,
        step=step,
        really=really,
        predicted_rate=planned.failures.rate(planned.all_units),
        rest=played,
        targets=missed(scenario.targets, rest.after(played.stretches, evidence.elapsed), step.error, per_second),
        alarms=_alarms(explained, evidence, predicted, step, planned, really, load),
        levers=(),
        warnings=(*explained.warnings, *_planned(explained, total)),
        dollars_per_second=per_second,
    )
    if not advise:
        return made
    rented = scenario.cluster.hosts + (scenario.cluster.spares or 0)
    shown = mtbf(left) / really.rate.middle
    return replace(made, levers=levers(played, campaign.play, shown, rented, per_second, _slow(made)))


def _planned(explained: Explanation, total: int) -> tuple[str, ...]:
    """Return what the log and the scenario do not agree on."""
    last = next((one.last for one in reversed(explained.log.iterations) if one.last is not None), None)
    if last is None or last == total:
        return ()
    return (
        f"{explained.log.name}: the job is planned to step {last:,}, the scenario to step {total:,}, which is taken; "
        f"set training.steps to what runs",
    )


def _dollars_per_second(scenario: Scenario, before: Result) -> Number:
    if before.run.progress and before.run.wall_clock_s.mean:
        return before.cost.dollars.mean / before.run.wall_clock_s.mean
    rented = scenario.cluster.hosts + (scenario.cluster.spares or 0)
    return rented * scenario.gpus_per_host / 3600.0 * scenario.prices.gpu_hour


def _alarms(
    explained: Explanation,
    evidence: Evidence,
    predicted: Seconds,
    step: StepForecast,
    run: RunInput,
    really: Corrected,
    load: Seconds,
) -> tuple[Alarm, ...]:
    found = (
        alarms.of_step(evidence.steps, explained.found, predicted, step.prior),
        alarms.of_failures(evidence, run.failures.rate(run.all_units), really.rate),
        alarms.of_restarts(restarts(run, evidence, load), run.recovery.mean_down(run.units["gpu"]), really.away),
    )
    return tuple(one for one in found if one is not None)


def _slow(made: Forecast) -> Lever | None:
    """Return what it saves to find and evict what made the steps longer, where they became so at one step."""
    changes = made.explained.found.changes
    if not changes or changes[-1].after_s <= changes[-1].before_s:
        return None
    last = changes[-1]
    growing = [one.growing for one in made.rest.stretches if one.growing < inf]
    if not growing:
        return None
    saves = (1 - last.before_s / last.after_s) * sum(growing) / len(growing)
    what = f"find and evict what became slow at step {last.step:,}"
    return Lever(what, {}, saves, saves * made.dollars_per_second, sure=True)
