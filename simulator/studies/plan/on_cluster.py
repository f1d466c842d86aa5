"""What a choice takes on the cluster of a scenario: a model of that size, in its best layout, simulated to the end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from simulator.engine.prices.assembly import assembly
from simulator.engine.step import recorded, simulated
from simulator.errors import InfeasibleError, ScenarioError
from simulator.io.readable import NO_PROGRESS
from simulator.outcome.results import Result
from simulator.scenario import Scenario
from simulator.scenario.echo import echo
from simulator.scenario.shape import shape
from simulator.simulation import fits
from simulator.studies import best, layouts
from simulator.studies.plan import axes
from simulator.studies.plan.laws.base import Choice, Law
from simulator.studies.plan.phase import Phase
from simulator.studies.plan.run import DAY, HOUR, Budget, Run
from simulator.studies.plan.shape import shaped, size
from simulator.studies.point import Base
from simulator.studies.space import contradiction
from simulator.units import DollarsPerHour, Flops, Number, Seconds
from simulator.workload.layout import Parallelism
from simulator.workload.model import Model
from simulator.workload.parameters import active_parameters, total_parameters
from simulator.workload.training import Training

SEARCHES, ROUNDS = 4, 6
MOST_SIMULATED = 10
"""Layouts, at most, whose steps are simulated to tell the fastest."""
CLOSE: Number = 0.005
"""How near the spending of the planned run comes to the budget."""


@dataclass(frozen=True)
class OnCluster:
    """A cluster that a scenario describes. With `search` the usual layouts are tried, else its own is kept."""

    scenario: Scenario
    search: bool = True
    found: dict[tuple[Model, int, int], tuple[Parallelism, Training]] = field(
        default_factory=dict, repr=False, compare=False
    )
    """Layouts that were looked for already, by model, sequence and batch."""

    def __post_init__(self) -> None:
        if self.scenario.model is None or self.scenario.parallelism is None:
            raise ScenarioError("a plan needs a scenario with a model, whose shape the planned one takes")

    def run(self, choice: Choice, law: Law) -> Run:
        """Return the run of `choice`: days and dollars at the median, failures and spares included."""
        return self._run(self.planned(choice, law))

    def _run(self, chosen: Scenario) -> Run:
        result = best.run(chosen)
        if not result.run.progress:
            raise InfeasibleError(f"the planned run makes no progress: {NO_PROGRESS}")
        cost, wall = result.cost, result.run.wall_clock_s.p50
        assert chosen.model is not None
        return Run(
            how="simulated",
            gpus=chosen.gpus,
            gpu_hours=cost.gpu_hours.p50,
            days=wall / DAY,
            dollars=cost.dollars.p50,
            mfu=result.step.mfu,
            energy_j=cost.energy_j,
            co2_kg=cost.co2_kg,
            details=_details(chosen, result),
        )

    def planned(self, choice: Choice, law: Law, like: Scenario | None = None) -> Scenario:
        """Return the scenario of `choice`, in the layout of `like` where that fits.

        A shape has about the planned size; tokens make up for the difference, so that the FLOPs are those planned.
        """
        assert self.scenario.model is not None
        model = shaped(choice.parameters, self.scenario.model, embeddings=law.embeddings)
        tokens = choice.tokens * choice.parameters / size(model, embeddings=law.embeddings)
        training = replace(_without_length(self.scenario.training), tokens=round(tokens))
        start = replace(self.scenario, model=model, model_name="planned", training=training, expect={})
        if like is not None:
            training = replace(training, microbatch=like.training.microbatch, recompute=like.training.recompute)
            again = replace(start, parallelism=like.parallelism, training=training)
            if contradiction(again) is None and fits(again).verdict != "oom":
                return replace(again, resolved=_written(again))
        return self.laid_out(start)

    def laid_out(self, start: Scenario) -> Scenario:
        """Return `start` in the layout that is taken."""
        if not self.search:
            why = contradiction(start)
            if why is not None:
                raise InfeasibleError(f"the planned model does not go with the scenario's own layout: {why}")
            if fits(start).verdict == "oom":
                raise InfeasibleError("the planned model does not fit in the scenario's own layout")
            return replace(start, resolved=_written(start))
        assert start.model is not None
        assert start.parallelism is not None
        known = (start.model, start.training.sequence_length, start.training.global_batch)
        if known not in self.found:
            best_one = fastest(start)
            assert best_one.parallelism is not None
            self.found[known] = best_one.parallelism, best_one.training
        parallelism, training = self.found[known]
        training = replace(start.training, microbatch=training.microbatch, recompute=training.recompute)
        chosen = replace(start, parallelism=parallelism, training=training)
        return replace(chosen, resolved=_written(chosen))

    def affords(self, budget: Budget, choose: Callable[[Flops], Choice], law: Law) -> Flops:
        """Return the FLOPs that a budget buys when they are spent as `choose` says.

        Cost is nearly in proportion to FLOPs, so that a few rounds suffice. They keep a layout until the budget is
        spent, then look whether the model of that size has a better one, and end with what came closest. Since shapes
        go in steps, the last percent or two may be left.
        """
        gpu = self.scenario.cluster.host.gpu
        rate = 0.4 * gpu.peak_of(self.scenario.training.precision.kind)
        flops = budget.gpu_hours(self.rented, self.scenario.prices.gpu_hour) * HOUR * rate
        tried: dict[Flops, Number] = {}
        for _ in range(SEARCHES):
            planned = self.planned(choose(flops), law)
            tried[flops] = abs(budget.spent(self._run(planned)) - 1)
            if tried[flops] < CLOSE:
                break
            for _ in range(ROUNDS):
                share = budget.spent(self._run(self.planned(choose(flops), law, planned)))
                if abs(share - 1) < CLOSE:
                    break
                flops /= share
        return min(tried, key=tried.__getitem__)

    @property
    def busy(self) -> int:
        return self.rented

    @property
    def dollars_per_hour(self) -> DollarsPerHour:
        return self.scenario.prices.gpu_hour

    def phase(self, phase: Phase, parameters: Number | None) -> Run:
        """Return one pass of a phase: the scenario's own model unless a size is given, its own batch unless another."""
        own, training = self.scenario.model, self.scenario.training
        assert own is not None
        assert phase.tokens is not None
        training = replace(
            _without_length(training),
            tokens=round(phase.tokens * phase.epochs),
            sequence_length=phase.sequence_length or training.sequence_length,
            global_batch=phase.global_batch or training.global_batch,
        )
        model = own if parameters is None else shaped(parameters, own)
        return self._run(self.laid_out(replace(self.scenario, model=model, training=training, expect={})))

    @property
    def rented(self) -> int:
        """Return the GPUs that are paid for."""
        cluster = self.scenario.cluster
        return (cluster.hosts + (cluster.spares or 0)) * cluster.host.gpus


def fastest(start: Scenario) -> Scenario:
    """Return the layout with the shortest step that fits; one that may not fit only where no other does."""
    assert start.parallelism is not None
    start = replace(start, parallelism=replace(start.parallelism, split=None))
    tried: list[tuple[bool, Seconds, int, Scenario]] = []
    for group in layouts.groups(Base("plan", "\n"), axes.layouts(start)):
        able = list(axes.that_fit(layout.of(start) for layout in group.layouts))
        seconds = recorded.times([assembly(one).step() for one, _ in able])
        for (one, surely), alone in zip(able, seconds, strict=True):
            tried.append((not surely, alone, len(tried), one))
    if not tried:
        raise InfeasibleError(
            f"no layout of {_size(start)} fits on {start.gpus:,} GPUs of {start.cluster.host.gpu.name}"
        )
    tried.sort(key=lambda one: one[:3])
    return _soonest([(bound, one) for unsure, bound, _, one in tried if unsure == tried[0][0]])


def _soonest(tried: Sequence[tuple[Seconds, Scenario]]) -> Scenario:
    """Return the layout with the shortest simulated step, of layouts in the order of lower bounds of their steps."""
    best: tuple[Seconds, Scenario] | None = None
    for bound, one in tried[:MOST_SIMULATED]:
        if best is not None and bound >= best[0]:
            break
        seconds = simulated.time(assembly(one).step()).seconds
        if best is None or seconds < best[0]:
            best = seconds, one
    assert best is not None
    return best[1]


def _without_length(training: Training) -> Training:
    return replace(training, steps=None, duration=None, phases=(), step_time=None)


def _size(scenario: Scenario) -> str:
    assert scenario.model is not None
    return f"{total_parameters(scenario.model) / 1e9:,.1f}B parameters"


def _written(scenario: Scenario) -> dict[str, Any]:
    """Return the planned scenario as plain data, which reads back as it."""
    plain = best.document(scenario)
    training = {**plain["training"], **echo(shape(Training), scenario.training)}
    for name in ("steps", "duration", "phases", "step_time"):
        training.pop(name, None)
    if "data_stall_share" in training:
        training["data_stall"] = training.pop("data_stall_share")
    return {**plain, "model": echo(shape(Model), scenario.model), "training": training}


def _details(scenario: Scenario, result: Result) -> dict[str, Any]:
    assert scenario.model is not None
    assert scenario.parallelism is not None
    model = scenario.model
    return {
        "model": {
            "parameters": total_parameters(model),
            "active_parameters": active_parameters(model),
            "layers": model.layers,
            "hidden": model.hidden,
            "heads": model.heads,
            "kv_heads": model.kv_heads,
            "ffn": model.ffn,
        },
        "tokens": scenario.training.tokens,
        "layout": layouts.Layout(scenario.parallelism, scenario.training).columns | {"data": scenario.data},
        "step_time_s": result.step.time_s,
        "goodput": result.run.goodput.mean,
        "days_p10": result.run.wall_clock_s.p10 / DAY,
        "days_p90": result.run.wall_clock_s.p90 / DAY,
        "verdict": result.verdict,
        "scenario": scenario.resolved,
    }
