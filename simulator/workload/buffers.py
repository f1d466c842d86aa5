"""Gather and reduce buffers that live beside state and activations."""

from __future__ import annotations

from simulator.sums import added
from simulator.units import Bytes
from simulator.workload import states
from simulator.workload.layers import kinds_of
from simulator.workload.parameters import layer_on_rank
from simulator.workload.rank import Rank
from simulator.workload.replica import Content, ends_on_rank
from simulator.workload.stack import WIDTH
from simulator.workload.states import LEVELS


def buffers(rank: Rank, held: tuple[Content, ...]) -> Bytes:
    """Return gather and reduce buffers that live beside everything else.

    FSDP and ZeRO 3 gather the weights of the layer at work and of those prefetched, and those of embedding and
    head; a layer's gradients are whole until they are reduced, as they are at level 2. Without fused accumulation
    the gradient of the largest matrix is whole before it is added. Sequence parallelism gathers one layer's input.
    """
    model, stack, level, total = rank.model, rank.stack, rank.shard.level, 0.0
    kinds = dict.fromkeys(blocks for chunk in held for blocks, _ in chunk.layers)
    unit = max((added(layer_on_rank(rank.inside, blocks)) for blocks in kinds), default=0.0)
    if rank.sharers > 1 and level in ("gradients", "parameters"):
        total += unit * (rank.value + WIDTH[stack.gradient_reduce])
        if level == "parameters" and not rank.unsharded:
            total += ((1 + stack.prefetch) * unit + ends_on_rank(rank, held)) * states.widths(rank).compute
    elif not stack.gradient_accumulation_fusion:
        total += rank.value * model.hidden * max(model.ffn, 1) / rank.tensor
    if rank.pipeline > 1:
        total += 2 * rank.stream
    total += bucket(rank)
    if rank.sequence and not stack.saved_gathers:
        total += rank.gathered_bytes
    return total + max(added(block.buffers(rank) for block in blocks) for blocks in kinds_of(model))


def bucket(rank: Rank) -> Bytes:
    """Return the gather and reduce buffers that stay allocated in forward and backward."""
    stack = rank.stack
    used = rank.sharers > 1 and LEVELS.index(rank.shard.level) >= LEVELS.index(stack.bucket_from)
    return stack.bucket if used and rank.pipeline == 1 else 0.0
