"""Failure and checkpoint policies over many runs: which is best under which conditions, and which cannot be told apart.

The step is simulated once; only runs are repeated. Run i of every policy meets the same failures (common random
numbers), so that policies are compared run by run. Those that still may be the best get twice as many runs, until the
interval of each difference excludes zero or the runs that were asked for are used up.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from math import inf, sqrt
from statistics import fmean, stdev
from typing import Any, NamedTuple

from simulator.accounts import step_result
from simulator.campaign import run_input, run_result
from simulator.cost import cost
from simulator.engine import run, step
from simulator.engine.assembly import assembly
from simulator.engine.outcome import Outcome
from simulator.errors import ForetrainError, ScenarioError
from simulator.intervals import interval
from simulator.results import CostResult, RunResult, StepResult
from simulator.scenario import Scenario
from simulator.simulation import energy, measured, spread_out, step_factor, useful_work
from simulator.studies import columns
from simulator.studies.point import UNKNOWN, Base, short
from simulator.studies.store import Row, key
from simulator.studies.vary import Axis, Choice
from simulator.units import Count, Number, Seconds

CONDITIONS = ("failures", "prices")
"""What happens to a run; a policy is what one chooses, and the best one is sought under each condition."""
POLICIES = ("checkpoint", "recovery", "cluster.spares", "cluster.storage", "training.evaluation")
FIRST: Count = 25
"""Runs of every policy before any is given up."""
SURE: Number = 2.58
"""Standard errors on either side of a difference: 99 in 100 of such intervals hold the truth."""
OBJECTIVES = {"dollars": "dollars_mean", "cost": "dollars_mean", "days": "wall_clock_mean_s", "goodput": "goodput_mean"}


class Work(NamedTuple):
    """What every policy has to get through."""

    step: StepResult
    useful: Seconds


@dataclass(frozen=True)
class Batch:
    """Some runs of one policy under one condition."""

    base: Base
    choice: Choice
    work: Work
    first: Count
    runs: Count

    @cached_property
    def key(self) -> str:
        return key("stress", self.base.content, self.choice, self.first, self.runs)


@dataclass
class Trial:
    """A policy under a condition, with the runs it has had."""

    base: Base
    choice: Choice
    work: Work
    outcomes: list[Outcome] = field(default_factory=list)
    reason: str | None = None

    @cached_property
    def condition(self) -> Choice:
        return tuple(pair for pair in self.choice if pair[0].startswith(CONDITIONS))

    @cached_property
    def scenario(self) -> Scenario:
        return self.base.read(changes(self.choice))

    @property
    def progress(self) -> bool:
        return self.reason is None and all(outcome.progress for outcome in self.outcomes)

    def batch(self, until: Count) -> Batch:
        """Return the runs that are missing until there are so many."""
        return Batch(self.base, self.choice, self.work, len(self.outcomes), until - len(self.outcomes))

    def add(self, row: Row) -> None:
        self.reason = row["reason"]
        for one in row["outcomes"]:
            hosts_out = {int(count): seconds for count, seconds in one["hosts_out"].items()}
            self.outcomes.append(Outcome(**one | {"hosts_out": hosts_out}))

    def results(self) -> tuple[RunResult, CostResult]:
        """Return what the runs so far say together."""
        scenario = self.scenario
        happened = run_result(scenario, _input(scenario, self.work), self.outcomes, self.work.step.mfu)
        prices, rented = scenario.prices, scenario.cluster.hosts + (scenario.cluster.spares or 0)
        bill = cost(
            happened.wall_clock_s,
            gpus=rented * scenario.gpus_per_host,
            gpu_hour=prices.gpu_hour,
            energy=energy(scenario, happened, self.work.step.parts_s),
            electricity=prices.electricity,
            pue=prices.pue,
            carbon=prices.carbon,
        )
        return happened, bill

    def samples(self, objective: str) -> list[Number]:
        """Return the figure of each run that is to be small."""
        if not self.progress:
            return [inf] * len(self.outcomes)
        walls = [outcome.wall_clock for outcome in self.outcomes]
        if objective == "days":
            return walls
        if objective == "goodput":
            return [-outcome.goodput for outcome in self.outcomes]
        happened, bill = self.results()
        each = bill.dollars.mean / happened.wall_clock_s.mean
        return [each * wall for wall in walls]


class Difference(NamedTuple):
    """How much worse than the best, run by run, and the interval of its mean."""

    mean: Number
    low: Number
    high: Number

    @property
    def settled(self) -> bool:
        return self.low > 0 or self.high < 0


def work(scenario: Scenario) -> Work:
    """Return the step, simulated, and the useful work of the run."""
    built = assembly(scenario) if scenario.training.step_time is None else None
    played = step.simulate(built.step()) if built else None
    seconds, parts = spread_out(scenario, played.timing if played else measured(scenario))
    told = step_result(scenario, seconds, parts, interval(scenario), built, played)
    return Work(told, useful_work(scenario, seconds))


def check(axes: Sequence[Axis]) -> None:
    """Refuse keys that change the step, which is simulated once."""
    for axis in axes:
        if not axis.key.startswith((*CONDITIONS, *POLICIES)):
            raise ScenarioError(
                f"--vary {axis.key}: is no policy ({', '.join(POLICIES)}) and no condition ({', '.join(CONDITIONS)}); "
                f"`foretrain sweep` varies any key"
            )


def changes(choice: Choice) -> tuple[str, ...]:
    return tuple(f"{name}={value}" for name, value in choice)


def evaluate(batch: Batch) -> Row:
    """Return the outcomes of a batch, or why there are none."""
    try:
        scenario = batch.base.read(changes(batch.choice))
        found = run.simulate(_input(scenario, batch.work), scenario.seed, batch.runs, first=batch.first)
    except ForetrainError as error:
        if UNKNOWN in str(error):
            raise
        return {"reason": short(error), "outcomes": []}
    return {"reason": None, "outcomes": [_plain(outcome) for outcome in found]}


def _input(scenario: Scenario, work: Work) -> run.RunInput:
    return run_input(scenario, work.useful, work.step.time_s, step_factor(scenario))


def _plain(outcome: Outcome) -> dict[str, Any]:
    plain = asdict(outcome)
    del plain["timeline"]
    return plain


def next_round(trials: Sequence[Trial], runs: Count, objective: str) -> list[tuple[Trial, Batch]]:
    """Return the batches that are still worth running: twice as many runs for all that may be the best."""
    if not any(trial.outcomes for trial in trials):
        return [(trial, trial.batch(min(FIRST, runs))) for trial in trials if trial.reason is None]
    found: list[tuple[Trial, Batch]] = []
    for group in _by_condition(trials):
        best = leader(group, objective)
        if best is None:
            continue
        open_ = [trial for trial in group if trial.progress and not difference(trial, best, objective).settled]
        until = min(2 * max(len(trial.outcomes) for trial in open_), runs)
        found += [(trial, trial.batch(until)) for trial in open_ if len(open_) > 1 and len(trial.outcomes) < until]
    return found


def leader(group: Sequence[Trial], objective: str) -> Trial | None:
    """Return the policy with the best mean so far."""
    able = [trial for trial in group if trial.outcomes and trial.progress]
    return min(able, key=lambda trial: fmean(trial.samples(objective)), default=None)


def difference(trial: Trial, best: Trial, objective: str) -> Difference:
    """Return how much worse than `best` a policy is, in the runs that both have had."""
    pairs = list(zip(trial.samples(objective), best.samples(objective), strict=False))
    apart = [one - other for one, other in pairs]
    mean = fmean(apart)
    if len(apart) < 2:
        return Difference(mean, -inf, inf)
    error = SURE * stdev(apart) / sqrt(len(apart))
    return Difference(mean, mean - error, mean + error)


def _by_condition(trials: Sequence[Trial]) -> Iterator[list[Trial]]:
    for condition in dict.fromkeys(trial.condition for trial in trials):
        yield [trial for trial in trials if trial.condition == condition]


def rows(trials: Sequence[Trial], objective: str) -> list[Row]:
    """Return one row a policy: the columns of a study, how many runs it had, and how far it is from the best."""
    best = {group[0].condition: leader(group, objective) for group in _by_condition(trials)}
    return [_row(trial, best[trial.condition], objective) for trial in trials if trial.outcomes or trial.reason]


def _row(trial: Trial, best: Trial | None, objective: str) -> Row:
    row: Row = {"scenario": trial.base.name, **dict(trial.choice)}
    if trial.reason is not None:
        row |= columns.infeasible(trial.reason)
    else:
        scenario = trial.scenario
        happened, bill = trial.results()
        row |= columns.ordered(
            {"verdict": None, "gpus": scenario.gpus}
            | columns.of_step(trial.work.step)
            | columns.of_run(happened)
            | columns.of_cost(bill)
        )
        if not trial.progress:
            row["reason"] = "no progress: recovery takes longer than the time between failures"
    row |= {
        "runs": len(trial.outcomes),
        "best": trial is best,
        "tie": False,
        "worse": None,
        "worse_low": None,
        "worse_high": None,
    }
    if best is not None and trial.progress and trial is not best:
        found, scale = difference(trial, best, objective), abs(fmean(best.samples(objective)))
        row["tie"] = not found.settled
        row |= {"worse": found.mean / scale, "worse_low": found.low / scale, "worse_high": found.high / scale}
    return row


def readable(base: Base, chosen: Sequence[Choice]) -> Scenario:
    """Return the first scenario of a grid that contradicts itself in nothing; the step of all is its step.

    Raises the ScenarioError of the first choice where there is none.
    """
    first: ScenarioError | None = None
    for choice in chosen:
        try:
            return base.read(changes(choice))
        except ScenarioError as error:
            if UNKNOWN in str(error):
                raise
            first = first or error
    assert first is not None
    raise first
