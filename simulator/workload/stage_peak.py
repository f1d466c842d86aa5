"""The peak of one stage, part by part: what is in flight, the loss head, and the backward of one layer.

The moments come from the schedule's own order (`simulator.workload.holdings`); what a microbatch keeps comes from
`simulator.workload.activations`, after recompute.
"""

from __future__ import annotations

from math import isqrt
from operator import mul
from typing import NamedTuple

from simulator.sums import added
from simulator.units import Bytes
from simulator.workload import activations
from simulator.workload.buffers import buffers
from simulator.workload.holdings import Holding
from simulator.workload.parameters import padded_vocabulary
from simulator.workload.stages import Case, Content, state


class Sizes(NamedTuple):
    """Bytes that come and go on a stage, chunk by chunk."""

    kept: tuple[Bytes, ...]
    """What one microbatch keeps from its forward to its backward."""
    work: tuple[Bytes, ...]
    """What the backward of one layer needs beyond that."""
    heads: tuple[bool, ...]
    head: Head


class Head(NamedTuple):
    """Bytes of final norm, logits and loss of one microbatch."""

    peak: Bytes
    waiting: Bytes
    """Between forward and backward."""
    delayed: Bytes
    """Until a weight gradient that runs later."""


def peak(case: Case, held: tuple[Content, ...], moments: tuple[Holding, ...]) -> dict[str, float]:
    """Return the parts of a stage at the worst of `moments`; they sum to its peak."""
    held_back, logits = flight(case, held, moments)
    return still(case, held) | {"activations": held_back, "logits": logits}


def flight(case: Case, held: tuple[Content, ...], moments: tuple[Holding, ...]) -> tuple[Bytes, Bytes]:
    """Return activations and logits of a stage at the worst of `moments`."""
    size = sizes(case, held)
    return max((during(size, moment) for moment in moments), key=sum)


def still(case: Case, held: tuple[Content, ...]) -> dict[str, float]:
    """Return the parts of a stage that stay all step long, in the order of the result."""
    stored, offload = state(case, held), case.training.offload
    return {
        "weights": stored.weights * (1 - offload.parameters if offload else 1.0),
        "gradients": stored.gradients,
        "optimizer": stored.optimizer * (1 - offload.optimizer if offload else 1.0),
        "activations": 0.0,
        "logits": 0.0,
        "buffers": buffers(case, held),
        "overhead": case.stack.process_overhead,
    }


def sizes(case: Case, held: tuple[Content, ...]) -> Sizes:
    """Return the bytes that come and go on a stage."""
    stays = 1 - case.training.offload.activations if case.training.offload else 1.0
    return Sizes(
        kept=tuple(stays * kept(case, chunk, place) for place, chunk in enumerate(held)),
        work=tuple(_work(case, chunk, place) for place, chunk in enumerate(held)),
        heads=tuple(chunk.head for chunk in held),
        head=_head(case),
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


def _head(case: Case) -> Head:
    s = case.setting
    vocabulary = padded_vocabulary(case.model.vocabulary, case.parallelism.tensor)
    heads = 1 + case.model.mtp
    waiting = activations.waiting_head(s, vocabulary)
    return Head(
        peak=activations.head(s, vocabulary) + case.model.mtp * waiting,
        waiting=heads * waiting,
        delayed=heads * activations.delayed_head(s, vocabulary),
    )


def _recomputed(case: Case, chunk: Content, place: int) -> int:
    """Return how many layers of a chunk are recomputed.

    A number given for a stage is spread over its chunks, what is left over to the first ones: they wait the longest.
    """
    layers = chunk.dense + chunk.experts
    given = case.training.recompute.layers
    if case.training.recompute.kind == "none":
        return 0
    if given is None:
        return layers
    share, more = divmod(given, case.parallelism.schedule.chunks_per_stage)
    return min(layers, share + (place < more))


def kept(case: Case, chunk: Content, place: int = 0) -> Bytes:
    """Return what one microbatch keeps on a chunk, the stage's `place`-th, from its forward to its backward."""
    s, recompute = case.setting, case.training.recompute
    layers = chunk.dense + chunk.experts
    again = _recomputed(case, chunk, place)
    total = 0.0
    for count, experts in ((chunk.dense, False), (chunk.experts, True)):
        if not count:
            continue
        part = again * count / layers
        whole = added(activations.kept(s, "none", (), experts).values())
        if recompute.kind == "sqrt":
            part_kept = activations.stream(s) * part / _segment(again)
        else:
            part_kept = part * added(activations.kept(s, recompute.kind, recompute.modules, experts).values())
        total += (count - part) * whole + part_kept
    if case.parallelism.pipeline > 1:
        boundary = activations.stream(s)
        if case.stack.pipeline_keeps_boundary:
            total += 2 * boundary
        elif not case.stack.frees_tensors_early:
            total += boundary
    if chunk.embedding and case.model.dropout and case.stack.saves_dropout_mask:
        total += activations.scattered(s) * case.model.hidden
    if chunk.head and case.model.mtp:
        joined = 4 * s.value * case.model.hidden * activations.scattered(s)
        experts = case.model.has_experts(case.model.layers)
        layer = added(activations.kept(s, recompute.kind, recompute.modules, experts).values())
        total += case.model.mtp * (joined + layer)
    return total


def _segment(layers: int) -> int:
    """Return the layers between two checkpoints of square-root recompute (Chen et al., 2016, arXiv 1604.06174)."""
    return max(isqrt(layers), 1)


def _work(case: Case, chunk: Content, place: int) -> Bytes:
    """Return what the backward of one layer needs beyond what was kept: gradients, and what it computes again."""
    s, layers = case.setting, chunk.dense + chunk.experts
    if not layers:
        return activations.stream(s)
    recompute = case.training.recompute
    most = 0.0
    for count, experts in ((chunk.dense, False), (chunk.experts, True)):
        if not count:
            continue
        again = 0.0
        if _recomputed(case, chunk, place):
            whole = added(activations.layer(s, experts).values())
            again = whole - added(activations.kept(s, recompute.kind, recompute.modules, experts).values())
            if recompute.kind == "sqrt":
                again = _segment(layers) * whole - activations.stream(s)
        most = max(most, again + activations.gradients(s, experts))
    return most


def offloaded(case: Case, held: tuple[Content, ...]) -> Bytes:
    """Return the host memory of one rank's offloaded state and activations."""
    offload = case.training.offload
    if offload is None or offload.to != "cpu":
        return 0.0
    stored = state(case, held)
    flight = added(kept(case, chunk, place) for place, chunk in enumerate(held))
    return offload.optimizer * stored.optimizer + offload.parameters * stored.weights + offload.activations * flight
