"""Every layout of a cluster: does it fit, and how long is its step; many of one schedule at a time.

Memory comes first, and only what fits is priced and timed. Layers are priced once for all layouts that do the same in
a layer, and steps that differ in how long tasks take, not in their order, are timed together (`engine.step.recorded`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import product
from typing import Any

from simulator.engine.prices.assembly import assembly
from simulator.engine.step import recorded
from simulator.engine.step.local_clock import Timing
from simulator.engine.step.work import StepWork
from simulator.errors import ScenarioError
from simulator.scenario import Scenario
from simulator.simulation import fits, spread_out, useful_work
from simulator.studies.columns import of_memory, too_large
from simulator.studies.point import Base
from simulator.studies.space import described
from simulator.studies.store import FILES, Row, key
from simulator.units import Flops, Seconds
from simulator.workload.flops import trained_flops_per_token
from simulator.workload.layout import Parallelism
from simulator.workload.training import Training

LARGEST_GROUP = 400
"""Layouts that a process takes at a time."""
MOST_TASKS = 2_000_000
"""Tasks of a step that is timed one by one; a longer one goes on in its rhythm."""


@dataclass(frozen=True)
class Layout:
    parallelism: Parallelism
    training: Training

    @property
    def columns(self) -> dict[str, Any]:
        return described(self.parallelism, self.training.microbatch, self.training.recompute.kind)

    def of(self, scenario: Scenario) -> Scenario:
        """Return a scenario in this layout."""
        return replace(scenario, parallelism=self.parallelism, training=self.training)


@dataclass(frozen=True)
class Group:
    """Layouts of one schedule and number of stages."""

    base: Base
    layouts: tuple[Layout, ...]

    @cached_property
    def key(self) -> str:
        return key("layouts", self.base.content, [layout.columns for layout in self.layouts])


def start(base: Base) -> Base:
    """Return a start that reads, in a layout that divides where the scenario's own does not.

    Raises the ScenarioError of the scenario as it is where no layout helps.
    """
    try:
        base.read()
    except ScenarioError as error:
        for tensor, pipeline in product((1, 2, 4, 8), (1, 2, 4, 8, 16, 32, 64)):
            mesh = {"tensor": tensor, "pipeline": pipeline, "context": 1, "expert": 1, "schedule": "1f1b"}
            changes = (*(f"parallelism.{key}={value}" for key, value in mesh.items()), "training.microbatch=1")
            other = replace(base, changes=(*base.changes, *changes))
            try:
                other.read()
            except ScenarioError:
                continue
            return other
        raise error
    return base


def groups(base: Base, scenarios: Sequence[Scenario]) -> list[Group]:
    """Return the layouts in groups that are worked out together, in the order of their schedules."""
    found: dict[tuple[object, int], list[Layout]] = {}
    for scenario in scenarios:
        layout = scenario.parallelism
        assert layout is not None
        found.setdefault((layout.schedule, layout.pipeline), []).append(Layout(layout, scenario.training))
    return [Group(base, tuple(part)) for ones in found.values() for part in _parts(ones)]


def _parts(ones: list[Layout]) -> Iterator[list[Layout]]:
    for first in range(0, len(ones), LARGEST_GROUP):
        yield ones[first : first + LARGEST_GROUP]


def evaluate(group: Group) -> Row:
    """Return the rows of a group: memory of all its layouts, times of those that fit."""
    asked = _read(group.base)
    rows: list[Row] = []
    timed: list[tuple[Row, Scenario, StepWork]] = []
    for layout in group.layouts:
        scenario = layout.of(asked)
        held = fits(scenario)
        row: Row = layout.columns | {"data": scenario.data, "microbatches": scenario.microbatches}
        row |= {"verdict": held.verdict, "reason": None, "worst_stage": held.worst_stage}
        row |= of_memory(held.peak_bytes, held.usable_bytes, held.p_fits)
        if held.verdict == "oom":
            row["reason"] = too_large(held)
        else:
            timed.append((row, scenario, assembly(scenario).step()))
        rows.append(row)
    seconds = recorded.times([work for _, _, work in timed])
    for (row, scenario, _), alone in zip(timed, seconds, strict=True):
        row |= speed(scenario, alone)
    return {"layouts": rows, FILES: dict(asked.files)}


@lru_cache(maxsize=4)
def _read(base: Base) -> Scenario:
    return base.read()


def speed(scenario: Scenario, alone: Seconds) -> Row:
    """Return the columns that follow from the time of a step of equal GPUs."""
    seconds, _ = spread_out(scenario, Timing(alone, 0, {}))
    training, gpu = scenario.training, scenario.cluster.host.gpu
    tokens = training.step_tokens / seconds
    each = tokens / scenario.gpus
    return {
        "step_time_s": seconds,
        "tokens_per_s": tokens,
        "tokens_per_s_per_gpu": each,
        "mfu": each * _flops(scenario) / gpu.peak_of(training.precision.kind),
        # The steps of a ramp are other steps; they are timed for the best layouts only.
        "ideal_s": None if training.phases else useful_work(scenario, seconds),
    }


def _flops(scenario: Scenario) -> Flops:
    assert scenario.model is not None
    return trained_flops_per_token(scenario.model, scenario.training.tuning, scenario.training.attended, "causal")


def exactly(scenarios: Sequence[Scenario]) -> list[Row]:
    """Return the speed of layouts by the lower bound of their steps, with every task timed."""
    works = [assembly(scenario).step() for scenario in scenarios]
    seconds = recorded.times(works)
    batches: dict[tuple[object, ...], list[int]] = {}
    for index, work in enumerate(works):
        if 2 * work.microbatches * len(work.chunks) <= MOST_TASKS:
            batches.setdefault(recorded.alike(work), []).append(index)
    for members in batches.values():
        for index, exact in zip(members, recorded.play([works[index] for index in members]), strict=True):
            seconds[index] = float(exact)
    return [speed(scenario, alone) for scenario, alone in zip(scenarios, seconds, strict=True)]
