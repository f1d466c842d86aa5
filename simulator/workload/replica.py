"""One replica of the model: its ranks, the chunks of its stages, and what one rank of each stage holds."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

from simulator.units import Bytes
from simulator.workload import states
from simulator.workload.blocks.base import Blocks
from simulator.workload.layout import Chunk, Parallelism, chunks
from simulator.workload.learning import layers as learning_layers
from simulator.workload.parameters import Parameters, embedding_on_rank, head_on_rank, layer_on_rank, mtp_on_rank
from simulator.workload.rank import Rank
from simulator.workload.schedules import Schedule
from simulator.workload.training import Offload, Recompute, Training


class Content(NamedTuple):
    """What a chunk holds: chunks alike in this do the same."""

    layers: tuple[tuple[Blocks, int], ...]
    """How many of each kind."""
    embedding: bool
    head: bool

    @property
    def depth(self) -> int:
        """How many layers."""
        return sum(count for _, count in self.layers)


@dataclass(frozen=True)
class Replica:
    """What its stages do in a step; all replicas do the same."""

    rank: Rank
    schedule: Schedule
    chunks: tuple[Chunk, ...]
    """In the order of the model."""
    microbatches: int
    recompute: Recompute
    offload: Offload | None

    @classmethod
    def of(cls, rank: Rank, parallelism: Parallelism, training: Training, microbatches: int) -> Replica:
        """Return the replica of a layout; raises ValueError where its layers cannot be dealt to the stages."""
        dealt = chunks(rank.model, rank.stack, parallelism)
        return cls(rank, parallelism.schedule, dealt, microbatches, training.recompute, training.offload)

    @cached_property
    def stages(self) -> tuple[tuple[Content, ...], ...]:
        """The chunks of each stage, those included that serve the other direction of the pipeline."""
        stages = self.rank.pipeline
        parts = [content(self.rank, chunk) for chunk in self.chunks]
        place: dict[tuple[int, int], Content] = {}
        for microbatch in {0, self.microbatches - 1}:
            for where, part in zip(self.schedule.path(microbatch, stages, self.microbatches), parts, strict=True):
                place[where] = part
        per_stage = self.schedule.chunks_per_stage
        return tuple(tuple(place[stage, chunk] for chunk in range(per_stage)) for stage in range(stages))


@lru_cache(maxsize=4096)
def content(rank: Rank, chunk: Chunk) -> Content:
    """Return what a chunk holds; MTP modules, which go with the head, are not among its layers."""
    kinds = Counter(learning_layers(rank.model, rank.tuning)[chunk.first : chunk.last])
    return Content(tuple(kinds.items()), chunk.embedding, chunk.head)


def parameters_on_rank(rank: Rank, held: tuple[Content, ...]) -> Parameters:
    """Return the parameters of a stage that one rank trains; a tied table is there once where both ends are."""
    total = Parameters()
    for chunk in held:
        for blocks, count in chunk.layers:
            total = total.plus(layer_on_rank(rank.inside, blocks), count)
    if any(chunk.head for chunk in held):
        total = total.plus(mtp_on_rank(rank.inside))
    return total.plus(Parameters(dense=ends_on_rank(rank, held)))


def ends_on_rank(rank: Rank, held: tuple[Content, ...]) -> float:
    """Return the parameters of a stage's ends that one rank trains."""
    embedding, head = any(chunk.embedding for chunk in held), any(chunk.head for chunk in held)
    before = embedding_on_rank(rank.inside) if embedding else 0.0
    return before + (head_on_rank(rank.inside, beside_embedding=embedding) if head else 0.0)


def state(rank: Rank, held: tuple[Content, ...]) -> states.Held:
    """Return the bytes of state of a stage on one rank."""
    count = parameters_on_rank(rank, held)
    dense = states.held(count.dense, rank.sharers, rank)
    experts = states.held(count.experts, rank.expert_sharers, rank)
    return states.Held(*(a + b for a, b in zip(dense, experts, strict=True)))


def updated_on_rank(rank: Rank, held: tuple[Content, ...]) -> float:
    """Return the parameters of a stage that one rank updates."""
    count = parameters_on_rank(rank, held)
    if rank.shard.level == "none":
        return count.dense + count.experts
    return count.dense / rank.sharers + count.experts / rank.expert_sharers


def state_dictionary(rank: Rank, held: tuple[Content, ...]) -> Bytes:
    """Return the bytes of a stage's state dictionary on one rank: weights, master weights and moments."""
    count = parameters_on_rank(rank, held)
    return states.saved(count.dense, rank.sharers, rank) + states.saved(count.experts, rank.expert_sharers, rank)
