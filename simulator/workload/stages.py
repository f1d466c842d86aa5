"""What each stage holds: its layers, its ends, and the parameters and state of those on one rank."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

from simulator.workload import activations, states
from simulator.workload.activations import Setting
from simulator.workload.layout import Chunk, Parallelism
from simulator.workload.model import Model
from simulator.workload.parameters import (
    embedding_on_rank,
    head_on_rank,
    layer_on_rank,
    mtp_on_rank,
    padded_vocabulary,
)
from simulator.workload.stack import Stack
from simulator.workload.training import Training


@dataclass(frozen=True)
class Case:
    """One question: this model in this layout."""

    model: Model
    stack: Stack
    parallelism: Parallelism
    training: Training
    data: int
    microbatches: int
    capacity: float | None = None
    """Most tokens of an expert over the mean (`moe.capacity`)."""

    @cached_property
    def setting(self) -> Setting:
        return activations.setting(self.model, self.stack, self.parallelism, self.training, self.capacity)

    @cached_property
    def widths(self) -> states.Widths:
        return states.widths(self.model, self.stack, self.training)

    @cached_property
    def shares(self) -> states.Groups:
        return states.groups(self.parallelism, self.data)


class Content(NamedTuple):
    """What one chunk of a stage holds."""

    dense: int
    experts: int
    embedding: bool
    head: bool


def by_stage(case: Case, chunks: Sequence[Chunk]) -> tuple[tuple[Content, ...], ...]:
    """Return the chunks of each stage, those included that serve the other direction of the pipeline."""
    schedule, pipeline = case.parallelism.schedule, case.parallelism.pipeline
    experts = _expert_layers(case.model)
    parts = [_content(chunk, experts[chunk.last] - experts[chunk.first]) for chunk in chunks]
    place: dict[tuple[int, int], Content] = {}
    for microbatch in {0, case.microbatches - 1}:
        for where, part in zip(schedule.path(microbatch, pipeline, case.microbatches), parts, strict=True):
            place[where] = part
    per_stage = schedule.chunks_per_stage
    return tuple(tuple(place[stage, chunk] for chunk in range(per_stage)) for stage in range(pipeline))


def _content(chunk: Chunk, experts: int) -> Content:
    return Content(chunk.layers - experts, experts, chunk.embedding, chunk.head)


@lru_cache(maxsize=1024)
def _expert_layers(model: Model) -> tuple[int, ...]:
    """Return how many of the first n layers have experts, for each n."""
    counts = [0]
    for index in range(model.layers):
        counts.append(counts[-1] + model.has_experts(index))
    return tuple(counts)


class Parameters(NamedTuple):
    dense: float
    experts: float

    def __add__(self, other: tuple) -> Parameters:
        return Parameters(self.dense + other[0], self.experts + other[1])


@lru_cache(maxsize=4096)
def layer_parameters(model: Model, tensor: int, expert: int, expert_tensor: int, experts: bool) -> Parameters:
    """Return the parameters of one layer on one rank, with experts or without."""
    index = next(i for i in range(model.layers + 1) if model.has_experts(i) == experts or i == model.layers)
    counts = layer_on_rank(model, index, tensor=tensor, expert=expert, expert_tensor=expert_tensor)
    return Parameters(counts["dense"], counts["experts"])


@lru_cache(maxsize=4096)
def end_parameters(model: Model, tensor: int, last: bool) -> float:
    counts = head_on_rank(model, tensor=tensor) if last else embedding_on_rank(model, tensor=tensor)
    return sum(counts.values())


def parameters_on_rank(case: Case, held: tuple[Content, ...]) -> Parameters:
    """Return the parameters of a stage on one rank; a tied table is there once where both ends are."""
    model, p = case.model, case.parallelism
    size = (p.tensor, p.expert, p.expert_tensor)
    total = Parameters(0.0, 0.0)
    for chunk in held:
        for count, experts in ((chunk.dense, False), (chunk.experts, True)):
            if count:
                one = layer_parameters(model, *size, experts)
                total += (count * one.dense, count * one.experts)
        if chunk.embedding:
            total += (end_parameters(model, p.tensor, False), 0.0)
        if chunk.head:
            total += (end_parameters(model, p.tensor, True), 0.0)
            if model.mtp:
                more = mtp_on_rank(model, tensor=p.tensor, expert=p.expert, expert_tensor=p.expert_tensor)
                total += (more["dense"], more["experts"])
    both = any(chunk.embedding for chunk in held) and any(chunk.head for chunk in held)
    if model.tied and both:
        total += (-padded_vocabulary(model.vocabulary, p.tensor) * model.hidden / p.tensor, 0.0)
    return total


def state(case: Case, held: tuple[Content, ...]) -> states.Held:
    width, shares = case.widths, case.shares
    count = parameters_on_rank(case, held)
    unsharded = case.stack.keep_unsharded and case.parallelism.pipeline > 1
    dense = states.held(count.dense, shares.dense, width, level=case.parallelism.shard.level, unsharded=unsharded)
    experts = states.held(count.experts, shares.experts, width, level=case.parallelism.shard.level, unsharded=unsharded)
    return states.Held(*(a + b for a, b in zip(dense, experts, strict=True)))
