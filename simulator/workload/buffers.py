"""Gather and reduce buffers that live beside state and activations."""

from __future__ import annotations

from simulator.sums import added
from simulator.units import Bytes
from simulator.workload import frozen, states
from simulator.workload.layers import kinds_of
from simulator.workload.parameters import layer_on_rank, layer_parts, table_on_rank
from simulator.workload.rank import Rank
from simulator.workload.replica import Content, ends_on_rank
from simulator.workload.stack import WIDTH
from simulator.workload.states import LEVELS


def buffers(rank: Rank, held: tuple[Content, ...]) -> Bytes:
    """Return gather and reduce buffers that live beside everything else.

    FSDP and ZeRO 3 gather the weights of the layer at work and of those prefetched, and those of embedding and
    head; a layer's gradients are whole until they are reduced, as they are at level 2. A compiler may do so matrix by
    matrix. Without fused accumulation the gradient of the largest matrix is whole before it is added. Sequence
    parallelism gathers one layer's input.
    """
    model, stack, level, total = rank.model, rank.stack, rank.shard.level, 0.0
    if rank.sharers > 1 and level in ("gradients", "parameters"):
        unit, ends = gathered(rank, held)
        layer, tables = frozen.gathered(rank, held)
        total += unit * (rank.value + WIDTH[stack.gradient_reduce])
        if level == "parameters" and not rank.unsharded:
            total += ((1 + stack.prefetch) * unit + ends) * states.widths(rank).compute
            total += (1 + stack.prefetch) * layer + tables
    elif not stack.gradient_accumulation_fusion and rank.tuning.method.trains_base:
        total += rank.value * model.hidden * max(model.ffn, 1) / rank.tensor
    if rank.pipeline > 1:
        total += 2 * rank.stream
    total += bucket(rank)
    if rank.sequence and not stack.saved_gathers:
        total += rank.gathered_bytes
    total += _dequantised(rank, held)
    return total + max(added(block.buffers(rank) for block in blocks) for blocks in kinds_of(model))


def _dequantised(rank: Rank, held: tuple[Content, ...]) -> Bytes:
    """Return the largest frozen matrix of a stage as a pass has it in 16 bits."""
    blocks = (block for chunk in held for layer, _ in chunk.layers for block in layer)
    return max((block.dequantised(rank) for block in blocks), default=0.0)


def gathered(rank: Rank, held: tuple[Content, ...]) -> tuple[float, float]:
    """Return the parameters of what is gathered at a time, and of the ends, which stay gathered beside layers.

    Where a unit is a matrix, nothing stays gathered: the unit is the largest matrix of a layer or of an end.
    """
    kinds, ends = dict.fromkeys(blocks for chunk in held for blocks, _ in chunk.layers), ends_on_rank(rank, held)
    if rank.stack.gather_unit == "matrix":
        parts = (part for blocks in kinds for part in layer_parts(rank.model, blocks))
        table = table_on_rank(rank.inside) if ends else 0.0
        return max((table, *(rank.inside.share(part.size, part.division) for part in parts))), 0.0
    return max((added(layer_on_rank(rank.inside, blocks)) for blocks in kinds), default=0.0), ends


def bucket(rank: Rank) -> Bytes:
    """Return the gather and reduce buffers that stay allocated in forward and backward."""
    stack = rank.stack
    used = rank.sharers > 1 and LEVELS.index(rank.shard.level) >= LEVELS.index(stack.bucket_from)
    return stack.bucket if used and rank.pipeline == 1 else 0.0
