"""How a model is split over ranks: axes and their strides, and the layers of each stage and chunk.

Ranks are numbered in Megatron's order tensor, context, expert, data, pipeline (``parallel_state.py``), so
that an axis is a size and a stride: rank = t + T (c + C (d + D p)). Experts live in the block of one
stage, T C D ranks: expert-tensor innermost, then expert, then the replicas of an expert.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from itertools import accumulate, pairwise
from typing import Literal, NamedTuple

from simulator.units import Count
from simulator.workload.model import Model
from simulator.workload.schedules import Schedule
from simulator.workload.schedules.one_f_one_b import OneForwardOneBackward
from simulator.workload.stack import Stack


@dataclass(frozen=True, kw_only=True)
class Context:
    size: Count = 1
    """Ranks that share one sequence."""
    kind: Literal["ring", "all-gather", "ulysses"] = "ring"
    """How keys and values reach them: `ring` one after the other, `all-gather` all at once, `ulysses` by heads."""
    ulysses: Count = 1
    """Neighbouring ranks that exchange tokens for heads before a `ring` or `all-gather` over the others (USP, arXiv
    2405.07719; ``a2a+p2p`` in Megatron-LM)."""

    tokens: Literal["zigzag", "contiguous"] = "zigzag"
    """Which tokens of a `ring` or `all-gather` a rank holds: a chunk from each end of the sequence, so that all see as
    many keys (`zigzag`), or neighbouring ones, so that the last rank computes twice the mean and the others wait."""

    @property
    def over_heads(self) -> int:
        """Ranks that deal the heads among them."""
        return self.size if self.kind == "ulysses" else self.ulysses

    @property
    def over_tokens(self) -> int:
        """Pieces of the sequence whose keys and values pass from rank to rank."""
        return self.size // self.over_heads

    def axis(self, part: Literal["heads", "tokens"]) -> str:
        """Return the axis of the mesh over which one of the two exchanges runs."""
        return f"context_{part}" if self.over_heads > 1 and self.over_tokens > 1 else "context"


@dataclass(frozen=True, kw_only=True)
class Shard:
    """Sharding over the data axis (ZeRO, FSDP)."""

    level: Literal["none", "optimizer", "gradients", "parameters"] = "none"
    """What is shared out: ZeRO 0 (`none`), 1, 2 or 3 (`parameters`, FSDP)."""
    replicas: Count = 1
    """Groups that each hold a whole copy (HSDP); 1 shards over the whole data axis."""


@dataclass(frozen=True, kw_only=True)
class Parallelism:
    tensor: Count = 1
    """Ranks that share each matrix product."""
    pipeline: Count = 1
    """Stages that share the layers."""
    context: Context = field(default_factory=Context)
    """Ranks that share one sequence, or `{size, kind}`."""
    expert: Count = 1
    """Ranks that share the experts of a layer; they are taken from tensor x context x data."""
    expert_tensor: Count = 1
    """Ranks that share the products of one expert."""
    schedule: Schedule = field(default_factory=OneForwardOneBackward)
    """In which order stages work on microbatches."""
    sequence: bool = False
    """Norms and residuals are split over the tensor axis too; on where stacks do so."""
    shard: Shard = field(default_factory=Shard)
    """What replicas share out, or `{level, replicas}`; the stack's where left out."""
    split: tuple[Count, ...] | None = None
    """Layers of each chunk in the order of the model; the stack's rule where left out."""
    order: str = "tp-cp-ep-dp-pp"
    """Axes from the innermost out: `tp-cp-ep-dp-pp` (Megatron's default), or `tp-cp-ep-pp-dp` with replicas outermost
    (Llama 3, whose pipelines lie inside a pod and whose replicas across pods: arXiv 2407.21783, section 3.3.2)."""


class Axis(NamedTuple):
    """Ranks that work together: `size` of them, `stride` ranks apart."""

    size: int
    stride: int


def axes(parallelism: Parallelism, data: int) -> dict[str, Axis]:
    """Return every axis of the mesh; `shard` and `replicate` make up context x data.

    `context_heads` and `context_tokens` make up `context` where ranks exchange heads inside a ring.

    `expert_data` and `expert_replicate` are the same for ranks that hold the same experts: replicas of HSDP each share
    out their own copy of them. Where stages lie between context and data, the ranks of both together are counted as
    evenly spaced.
    """
    tensor, context, stages = parallelism.tensor, parallelism.context.size, parallelism.pipeline
    heads = parallelism.context.over_heads
    expert, expert_tensor = parallelism.expert, parallelism.expert_tensor
    inner = stages if parallelism.order == "tp-cp-ep-pp-dp" and data > 1 else 1
    copies = parallelism.shard.replicas
    sharded = context * data // copies
    together, beside = tensor * inner, expert * expert_tensor * inner
    same_experts = tensor * context * data // (expert * expert_tensor)
    sharing_experts = max(same_experts // copies, 1)
    return {
        "tensor": Axis(tensor, 1),
        "context": Axis(context, tensor),
        "context_heads": Axis(heads, tensor),
        "context_tokens": Axis(context // heads, tensor * heads),
        "data": Axis(data, tensor * context * inner),
        "pipeline": Axis(stages, tensor * context * (1 if inner > 1 else data)),
        "expert_tensor": Axis(expert_tensor, 1),
        "expert": Axis(expert, expert_tensor),
        "expert_data": Axis(sharing_experts, beside),
        "expert_replicate": Axis(same_experts // sharing_experts, beside * sharing_experts),
        "shard": Axis(sharded, together),
        "replicate": Axis(copies, together * sharded),
    }


class Chunk(NamedTuple):
    """Layers `first` to `last` (excluded) that a stage holds as one piece."""

    stage: int
    chunk: int
    first: int
    last: int
    embedding: bool
    head: bool

    @property
    def layers(self) -> int:
        return self.last - self.first


@lru_cache(maxsize=256)
def chunks(model: Model, stack: Stack, parallelism: Parallelism) -> tuple[Chunk, ...]:
    """Return the chunks in the order of the model.

    Raises ValueError, with the numbers, if a stage is left empty or a given split does not add up.
    """
    route = parallelism.schedule.route(parallelism.pipeline)
    counts = parallelism.split or _deal(model, stack.split, len(route))
    if len(counts) != len(route):
        raise ValueError(
            f"split gives {len(counts)} numbers, but {parallelism.pipeline} stages x "
            f"{len(route) // parallelism.pipeline} chunks need {len(route)}"
        )
    if sum(counts) != model.layers:
        raise ValueError(f"split adds up to {sum(counts)} layers, but the model has {model.layers}")
    ends = list(accumulate(counts, initial=0))
    result = tuple(
        Chunk(stage, chunk, first, last, index == 0, index == len(route) - 1)
        for index, ((stage, chunk), (first, last)) in enumerate(zip(route, pairwise(ends), strict=True))
    )
    for part in result:
        if part.layers < 0 or not (part.layers or part.embedding or part.head):
            raise ValueError(
                f"stage {part.stage} chunk {part.chunk} is left without a layer: {model.layers} layers over "
                f"{len(route)} chunks; use fewer stages or chunks, or give parallelism.split"
            )
    return result


def _deal(model: Model, rule: str, parts: int) -> tuple[int, ...]:
    if rule == "cost":
        return _by_cost(model, parts)
    if parts > 2 and (rule == "slots" or (rule == "slots-if-uneven" and model.layers % parts)):
        slots = _even(model.layers + 2, parts)
        return (slots[0] - 1, *slots[1:-1], slots[-1] - 1)
    return _even(model.layers, parts)


def _even(layers: int, parts: int) -> tuple[int, ...]:
    """Deal layers as evenly as they go, the larger shares in the middle, where no embedding or head sits."""
    share, extra = divmod(layers, parts)
    first = (parts - extra) // 2
    return tuple(share + (first <= i < first + extra) for i in range(parts))


def _by_cost(model: Model, parts: int) -> tuple[int, ...]:
    """Deal blocks by parameters of their matrices: move on when a part's share is reached (nanotron's rule)."""
    matrices = 3 if model.gated else 2
    layer = model.hidden * (4 * model.hidden + matrices * model.ffn)
    head = model.vocabulary * model.hidden
    target = (model.layers * layer + head) / parts
    counts, part, reached = [0] * parts, 0, 0.0
    for index in range(model.layers):
        counts[part] += 1
        reached += layer
        left = model.layers - index - 1
        if part < parts - 1 and (reached >= target * (part + 1) or left <= parts - 2 - part):
            part += 1
    return tuple(counts)
