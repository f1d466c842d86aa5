"""One policy under one condition: the runs it has had, and what they say together."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from functools import cached_property
from math import inf
from typing import Any, NamedTuple

from simulator.engine import run
from simulator.engine.prices.assembly import assembly
from simulator.engine.run import Outcome
from simulator.engine.step import simulated
from simulator.errors import ForetrainError
from simulator.outcome.accounts import step_result
from simulator.outcome.campaign import run_input, run_result
from simulator.outcome.cost import cost
from simulator.outcome.intervals import step_error
from simulator.outcome.results import CostResult, RunResult, StepResult
from simulator.scenario import Scenario
from simulator.simulation import energy, measured, spread_out, step_factor, useful_work
from simulator.studies.point import UNKNOWN, Base, short
from simulator.studies.store import FILES, Row, key
from simulator.studies.vary import Choice
from simulator.units import Count, Number, Seconds

CONDITIONS = ("failures", "prices")
"""What happens to a run; all else that is varied is a policy, what one chooses."""


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
        step = self.work.step.time_s, self.work.useful
        return key("stress", self.base.content, self.choice, self.first, self.runs, step)


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
            spare_gpus=(scenario.cluster.spares or 0) * scenario.gpus_per_host,
            energy=energy(scenario, happened, self.work.step.parts_s),
            electricity=prices.electricity,
            pue=prices.pue,
            carbon=prices.carbon,
            luck=happened.luck.wall_clock_s if happened.luck else None,
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


def work(scenario: Scenario) -> Work:
    """Return the step, simulated, and the useful work of the run."""
    built = assembly(scenario) if scenario.training.step_time is None else None
    played = simulated.simulate(built.step()) if built else None
    seconds, parts = spread_out(scenario, played.timing if played else measured(scenario))
    told = step_result(scenario, seconds, parts, step_error(scenario, parts), built, played)
    return Work(told, useful_work(scenario, seconds))


def changes(choice: Choice) -> tuple[str, ...]:
    return tuple(f"{name}={value}" for name, value in choice)


def evaluate(batch: Batch) -> Row:
    """Return the outcomes of a batch, or why there are none."""
    files: dict[str, str] = {}
    try:
        scenario = batch.base.read(changes(batch.choice), files)
        found = run.simulate(_input(scenario, batch.work), scenario.seed, batch.runs, first=batch.first)
    except ForetrainError as error:
        if UNKNOWN in str(error):
            raise
        return {"reason": short(error), "outcomes": [], FILES: files}
    return {"reason": None, "outcomes": [_plain(outcome) for outcome in found], FILES: files}


def _input(scenario: Scenario, work: Work) -> run.RunInput:
    return run_input(scenario, work.useful, work.step.time_s, step_factor(scenario))


def _plain(outcome: Outcome) -> dict[str, Any]:
    plain = asdict(outcome)
    del plain["timeline"]
    return plain
