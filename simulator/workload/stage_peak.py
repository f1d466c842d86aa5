"""The peak of one stage, part by part: what is in flight, the loss head, and the backward of one layer; or the update.

The moments come from the schedule's own order (`simulator.workload.holdings`); what a microbatch keeps comes from
`simulator.workload.layer`, after recompute. When the optimizer updates the weights, no microbatch is in flight, and
its own copies (`Stack.update_copies`) take the place of activations and gathered weights.
"""

from __future__ import annotations

from math import isqrt
from operator import mul
from typing import NamedTuple

from simulator.sums import added
from simulator.units import Bytes
from simulator.workload import frozen, layer, states
from simulator.workload.blocks.head import Head
from simulator.workload.buffers import bucket, buffers
from simulator.workload.holdings import Holding
from simulator.workload.layers import blocks_of
from simulator.workload.learning import embedding
from simulator.workload.learning import head as learning_head
from simulator.workload.rank import Rank
from simulator.workload.replica import Content, Replica, state, updated_on_rank
from simulator.workload.stack import WIDTH


class Sizes(NamedTuple):
    """Bytes that come and go on a stage, chunk by chunk."""

    kept: tuple[Bytes, ...]
    """What one microbatch keeps from its forward to its backward."""
    work: tuple[Bytes, ...]
    """What the backward of one layer needs beyond that."""
    heads: tuple[bool, ...]
    head: HeadBytes


class HeadBytes(NamedTuple):
    """Bytes of final norm, logits and loss of one microbatch."""

    peak: Bytes
    waiting: Bytes
    """Between forward and backward."""
    delayed: Bytes
    """Until a weight gradient that runs later."""


class Updating(NamedTuple):
    """Bytes beside the state while the optimizer runs."""

    gradients: Bytes
    buffers: Bytes
    copies: Bytes


def peak(replica: Replica, held: tuple[Content, ...], moments: tuple[Holding, ...]) -> dict[str, float]:
    """Return the parts of a stage at the worst of `moments` or at the update; they sum to its peak."""
    return larger(still(replica, held), flight(replica, held, moments), updating(replica, held))


def larger(stays: dict[str, float], moves: tuple[Bytes, Bytes], update: Updating) -> dict[str, float]:
    """Return the parts of a stage where they are most: with activations and logits, or in the update."""
    working = stays | {"activations": moves[0], "logits": moves[1]}
    return max(working, at_update(stays, update), key=lambda parts: added(parts.values()))


def at_update(stays: dict[str, float], update: Updating) -> dict[str, float]:
    """Return the parts of a stage while its weights are updated."""
    return stays | {"gradients": update.gradients, "buffers": update.buffers, "update": update.copies}


def updating(replica: Replica, held: tuple[Content, ...]) -> Updating:
    """Return what is allocated beside the state of a stage while its weights are updated.

    ZeRO 3 takes its buffer of gradients once and for all, ZeRO 2 at the start of each backward (`initialize`'s IPG
    buffer of DeepSpeed's `stage3.py`, `setup_buckets` of `stage_1_and_2.py`). Gathered weights are let go before.
    """
    rank, stack, offload = replica.rank, replica.rank.stack, replica.offload
    gradients, updated = state(rank, held).gradients, updated_on_rank(rank, held)
    if stack.update_frees:
        gradients = min(gradients, updated * states.widths(rank).gradients)
    here, whole = updated * (1 - offload.optimizer if offload else 1.0), rank.shard.level == "parameters"
    if whole and stack.update_group:
        here = min(here, stack.update_group)
    return Updating(gradients, bucket(rank) if whole else 0.0, here * stack.update_copies)


def flight(replica: Replica, held: tuple[Content, ...], moments: tuple[Holding, ...]) -> tuple[Bytes, Bytes]:
    """Return activations and logits of a stage at the worst of `moments`."""
    size = sizes(replica, held)
    return max((during(size, moment) for moment in moments), key=sum)


def still(replica: Replica, held: tuple[Content, ...]) -> dict[str, float]:
    """Return the parts of a stage that stay all step long, in the order of the result."""
    stored, offload = state(replica.rank, held), replica.offload
    return {
        "weights": (stored.weights + frozen.held(replica.rank, held)) * (1 - offload.parameters if offload else 1.0),
        "gradients": stored.gradients + frozen.gradients(replica.rank, held, replica.microbatches),
        "optimizer": stored.optimizer * (1 - offload.optimizer if offload else 1.0),
        "activations": 0.0,
        "logits": 0.0,
        "buffers": buffers(replica.rank, held),
        "update": 0.0,
        "overhead": replica.rank.stack.process_overhead,
    }


def sizes(replica: Replica, held: tuple[Content, ...]) -> Sizes:
    """Return the bytes that come and go on a stage."""
    stays = 1 - replica.offload.activations if replica.offload else 1.0
    return Sizes(
        kept=tuple(stays * kept(replica, chunk, place) for place, chunk in enumerate(held)),
        work=tuple(_work(replica, chunk, place) for place, chunk in enumerate(held)),
        heads=tuple(chunk.head for chunk in held),
        head=_head(replica.rank),
    )


def during(size: Sizes, moment: Holding) -> tuple[Bytes, Bytes]:
    """Return activations and logits at a moment: the microbatch at work is at its peak."""
    held = added(map(mul, moment.counts, size.kept))
    work = 0.0 if moment.forward else size.work[moment.chunk]
    logits = waiting(size, moment)
    if size.heads[moment.chunk]:
        # In the backward of its layers a microbatch is past its loss.
        logits += (size.head.peak if moment.forward else 0.0) - size.head.waiting
    return held + work, logits


def waiting(size: Sizes, moment: Holding) -> Bytes:
    """Return what head and loss keep of the microbatches that are held."""
    if True not in size.heads:
        return 0.0
    return added(
        (count - delayed) * size.head.waiting + delayed * size.head.delayed
        for count, delayed, head in zip(moment.counts, moment.delayed, size.heads, strict=True)
        if head
    )


def _head(rank: Rank) -> HeadBytes:
    head, modules = Head(), rank.model.mtp
    waiting = added(learning_head(rank.tuning).kept(rank).values())
    return HeadBytes(
        peak=head.peak(rank) + modules * waiting,
        waiting=(1 + modules) * waiting,
        delayed=(1 + modules) * head.delayed(rank),
    )


def _recomputed(replica: Replica, chunk: Content, place: int) -> int:
    """Return how many layers of a chunk are recomputed.

    A number given for a stage is spread over its chunks, what is left over to the first ones: they wait the longest.
    """
    given = replica.recompute.layers
    if replica.recompute.kind == "none":
        return 0
    if given is None:
        return chunk.depth
    share, more = divmod(given, replica.schedule.chunks_per_stage)
    return min(chunk.depth, share + (place < more))


def kept(replica: Replica, chunk: Content, place: int = 0) -> Bytes:
    """Return what one microbatch keeps on a chunk, the stage's `place`-th, from its forward to its backward."""
    rank, recompute, model = replica.rank.inside, replica.recompute, replica.rank.model
    again = _recomputed(replica, chunk, place)
    total = 0.0
    for blocks, count in chunk.layers:
        part = again * count / chunk.depth
        if recompute.kind == "sqrt":
            part_kept = rank.stream * part / _segment(again)
        else:
            part_kept = part * layer.kept_bytes(rank, blocks, recompute)
        total += (count - part) * layer.kept_bytes(rank, blocks) + part_kept
    if replica.rank.pipeline > 1:
        if rank.stack.pipeline_keeps_boundary:
            total += 2 * rank.stream
        elif not rank.stack.frees_tensors_early:
            total += rank.stream
    if chunk.embedding:
        total += added(embedding(rank.tuning).kept(rank).values())
    if chunk.head and model.mtp:
        joined = 4 * rank.value * model.hidden * rank.scattered
        total += model.mtp * (joined + layer.kept_bytes(rank, blocks_of(model, model.layers), recompute))
    return total


def _segment(layers: int) -> int:
    """Return the layers between two checkpoints of square-root recompute (Chen et al., 2016, arXiv 1604.06174)."""
    return max(isqrt(layers), 1)


def _work(replica: Replica, chunk: Content, place: int) -> Bytes:
    """Return what the backward of one layer needs beyond what was kept: gradients, and what it computes again."""
    rank, recompute = replica.rank.inside, replica.recompute
    most = 0.0 if chunk.layers else rank.stream
    for blocks, _ in chunk.layers:
        again = 0.0
        if layers := _recomputed(replica, chunk, place):
            whole = layer.kept_bytes(rank, blocks)
            if recompute.kind == "sqrt":
                again = _segment(layers) * whole - rank.stream
            else:
                again = whole - layer.kept_bytes(rank, blocks, recompute)
        most = max(most, again + layer.gradients(rank, blocks))
    return most


def offloaded(replica: Replica, held: tuple[Content, ...]) -> Bytes:
    """Return the host memory of one rank's offloaded state and activations.

    An optimizer on the host has the gradients there too, in the format that it updates (ZeRO-Offload's 16 bytes per
    parameter beside 16-bit weights, arXiv 2101.06840).
    """
    offload = replica.offload
    if offload is None or offload.to != "cpu":
        return 0.0
    stored = state(replica.rank, held)
    flight = added(kept(replica, chunk, place) for place, chunk in enumerate(held))
    width, formats = states.widths(replica.rank), replica.rank.states
    gradient = max((WIDTH[formats.master] or width.weights) - width.extra_state, 0.0)
    update = stored.optimizer + updated_on_rank(replica.rank, held) * gradient
    return (
        offload.optimizer * update
        + offload.parameters * (stored.weights + frozen.held(replica.rank, held))
        + offload.activations * flight
    )
