"""Which layouts a cluster allows: the product of the axes, without what does not divide.

An axis of the scenario's ``search`` takes the values given there; one left out takes those that people choose from:
tensor within a scale-up domain, pipelines up to a layer a stage, chunks that deal the layers evenly, contexts of at
least a thousand tokens a rank, microbatches of up to eight sequences, every level of sharding, three recomputes. What
the stack does not have is left out in either case.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from math import isqrt
from typing import Any

from simulator.errors import ScenarioError
from simulator.kinds import members
from simulator.scenario import Scenario, consistency
from simulator.scenario.mistakes import Mistakes
from simulator.workload.layout import Context, Parallelism, Shard
from simulator.workload.schedules import Schedule, soundness
from simulator.workload.schedules.one_f_one_b import OneForwardOneBackward
from simulator.workload.stack import LEVELS, Level
from simulator.workload.training import Recompute

LEAST_TOKENS = 1024
"""Tokens of a sequence on one context rank."""
MICROBATCHES = (1, 2, 4, 8)
RECOMPUTES = ("none", "selective", "full")
SCHEDULES = ("1f1b", "interleaved-1f1b")
MOST_LAYOUTS = 200_000
MOST_WITHOUT = 2_000_000
"""Layouts that do not divide, before the search is given up; some seconds."""


@dataclass
class Space:
    """The layouts of a scenario; `without` counts those that do not divide, by the first reason."""

    scenario: Scenario
    without: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        if self.scenario.model is None or self.scenario.parallelism is None:
            raise ScenarioError("layouts are those of a model; this scenario has a measured step and no model")
        self.model = self.scenario.model
        self.given = self.scenario.parallelism
        self.search = self.scenario.search

    def layouts(self) -> list[Scenario]:
        """Return every layout as a scenario, in the order of the axes."""
        found: list[Scenario] = []
        for mesh in self._meshes():
            found += self._finished(mesh)
            self._count(found)
        return found

    def _count(self, found: Sequence[Scenario] = ()) -> None:
        if len(found) > MOST_LAYOUTS or self.without.total() > MOST_WITHOUT:
            raise ScenarioError(
                f"more than {MOST_LAYOUTS:,} layouts, or {MOST_WITHOUT:,} that do not divide; give fewer values, such "
                f"as search: {{tensor: [4, 8]}}"
            )

    def _meshes(self) -> Iterator[Scenario]:
        """Yield one layout of each mesh, schedule and microbatch that divides."""
        domain = max(self.scenario.cluster.host.scale_up.domain, 1)
        widths = [n for n in divisors(domain) if self.model.heads % n == 0]
        for tensor in self._axis("tensor", self._had("tensor", widths)):
            for context, sequence in product(self._contexts(), self._sequences(tensor)):
                for pipeline in self._axis("pipeline", self._had("pipeline", self._pipelines(tensor * context))):
                    yield from self._of_mesh(tensor, context, sequence, pipeline)

    def _of_mesh(self, tensor: int, context: int, sequence: bool, pipeline: int) -> Iterator[Scenario]:
        experts = product(self._experts(), self._axis("expert_tensor", [self.given.expert_tensor]))
        for schedule, (expert, expert_tensor) in product(self._schedules(pipeline), list(experts)):
            layout = replace(
                self.given,
                tensor=tensor,
                pipeline=pipeline,
                context=Context(size=context, kind=self.given.context.kind),
                expert=expert,
                expert_tensor=expert_tensor,
                schedule=schedule,
                sequence=sequence,
                split=self._split(pipeline * schedule.chunks_per_stage),
            )
            for microbatch in self._axis("microbatch", MICROBATCHES):
                training = replace(self.scenario.training, microbatch=microbatch)
                one = replace(self.scenario, parallelism=layout, training=training)
                if self._valid(one):
                    yield one

    def _finished(self, mesh: Scenario) -> Iterator[Scenario]:
        assert mesh.parallelism is not None
        for level, kind in product(self._levels(), self._axis("recompute", RECOMPUTES)):
            replicas = self.given.shard.replicas if level == self.given.shard.level else 1
            recompute = self.scenario.training.recompute
            yield replace(
                mesh,
                parallelism=replace(mesh.parallelism, shard=Shard(level=level, replicas=replicas)),
                training=replace(
                    mesh.training, recompute=recompute if recompute.kind == kind else Recompute(kind=kind)
                ),
            )

    # Values of the axes.

    def _axis(self, name: str, values: Iterable[Any]) -> tuple[Any, ...]:
        return self.search.get(name) or tuple(values)

    def _contexts(self) -> tuple[int, ...]:
        most = self.scenario.training.sequence_length // LEAST_TOKENS
        sizes = [n for n in (2**power for power in range(11)) if n == 1 or n <= most]
        return self._axis("context", self._had("context", sizes))

    def _had(self, axis: str, sizes: list[int]) -> list[int]:
        """Return sizes of an axis; 1 alone where the stack does not have it."""
        return sizes if axis in self.scenario.stack.axes else [size for size in sizes if size == 1]

    def _levels(self) -> tuple[Level, ...]:
        """Return levels of sharding that are asked for, without those that the stack does not have."""
        return tuple(level for level in self._axis("shard", LEVELS) if level in self.scenario.stack.shards)

    def _sequences(self, tensor: int) -> tuple[bool, ...]:
        """Sequence parallelism as the scenario writes it, else where the stack does it."""
        written = not any(one.key == "parallelism.sequence" for one in self.scenario.assumptions)
        own = self.given.sequence if written and self.given.tensor > 1 else self.scenario.stack.sequence
        return tuple(dict.fromkeys(value and tensor > 1 for value in self._axis("sequence", [own])))

    def _pipelines(self, ranks: int) -> list[int]:
        gpus = self.scenario.gpus
        return [n for n in range(1, self.model.layers + 1) if gpus % (ranks * n) == 0]

    def _experts(self) -> tuple[int, ...]:
        count = self.model.experts.count if self.model.experts else 1
        return self._axis("expert", self._had("expert", divisors(count)))

    def _schedules(self, pipeline: int) -> list[Schedule]:
        known: dict[str, Any] = members(Schedule)
        own = self.given.schedule.kind
        found: list[Schedule] = []
        had = self.scenario.stack.schedules
        usual = [kind for kind in SCHEDULES if had is None or kind in had]
        for kind in self._axis("schedule", dict.fromkeys((*usual, own))):
            if pipeline == 1:
                found.append(OneForwardOneBackward())
            elif "chunks" in known[kind].__dataclass_fields__:
                each = self._axis("chunks", self._chunks(pipeline))
                found += [known[kind](chunks=chunks) for chunks in each if chunks > 1]
            else:
                found.append(known[kind]())
        return list(dict.fromkeys(found))

    def _chunks(self, pipeline: int) -> list[int]:
        """Chunks a stage that deal the layers evenly, embedding and head counted as one each on stacks that do so."""
        slots = {self.model.layers, self.model.layers + 2 * self.scenario.stack.split.startswith("slots")}
        most = self.model.layers // pipeline
        return [n for n in range(2, most + 2) if any(count % (n * pipeline) == 0 for count in slots)]

    def _split(self, parts: int) -> tuple[int, ...] | None:
        return self.given.split if self.given.split and len(self.given.split) == parts else None

    def _valid(self, one: Scenario) -> bool:
        why = contradiction(one)
        if why is not None:
            self.without[why] += len(self._levels()) * len(self._axis("recompute", RECOMPUTES))
            self._count()
        return why is None


def contradiction(scenario: Scenario) -> str | None:
    """Return which section of a layout contradicts another one, as the reader would say it."""
    layout, model, mistakes = scenario.parallelism, scenario.model, Mistakes()
    assert layout is not None
    assert model is not None
    data = consistency.check_mesh(layout, scenario.cluster, mistakes)
    if data is None:
        return "GPUs are not divisible by tensor x pipeline x context"
    microbatches = consistency.check_batch(data, layout, scenario.training, mistakes)
    if microbatches is None:
        return "the batch is not divisible by data x microbatch"
    consistency.check_axes(layout, scenario.stack, mistakes)
    if len(mistakes):
        return f"{scenario.stack.framework} {scenario.stack.year} does not have such an axis or schedule"
    if layout.schedule.check(layout.pipeline, microbatches):
        return "the schedule cannot run with so many stages and microbatches"
    if not soundness.ships(layout.schedule) and (
        why := soundness.mistake(layout.schedule, layout.pipeline, microbatches)
    ):
        return f"the schedule cannot run: {why}"
    consistency.check_model(model, layout, scenario.training, mistakes)
    if len(mistakes):
        return "heads, width or sequence are not divisible by tensor or context"
    consistency.check_experts(model, layout, data, mistakes)
    if len(mistakes):
        return "experts are not divisible by expert, or the ranks are not"
    consistency.check_split(model, scenario.stack, layout, mistakes)
    return "a stage is left without a layer" if len(mistakes) else None


def divisors(number: int) -> list[int]:
    """Return what divides `number`.

    >>> divisors(12)
    [1, 2, 3, 4, 6, 12]
    """
    small = [n for n in range(1, isqrt(number) + 1) if number % n == 0]
    return sorted({*small, *(number // n for n in small)})


def described(layout: Parallelism, microbatch: int, recompute: str) -> dict[str, Any]:
    """Return the columns that name a layout."""
    return {
        "tensor": layout.tensor,
        "pipeline": layout.pipeline,
        "context": layout.context.size,
        "expert": layout.expert,
        "expert_tensor": layout.expert_tensor,
        "schedule": layout.schedule.kind,
        "chunks": layout.schedule.chunks_per_stage,
        "microbatch": microbatch,
        "shard": layout.shard.level,
        "recompute": recompute,
        "sequence": layout.sequence,
    }
