"""The peak of one stage, part by part: what is in flight, the loss head, and the backward of one layer.

The moments come from the schedule's own order (`simulator.workload.holdings`); what a microbatch keeps comes from
`simulator.workload.activations`, after recompute.
"""

from __future__ import annotations

from math import isqrt
from typing import NamedTuple

from simulator.units import Bytes
from simulator.workload import activations
from simulator.workload.activations import Setting
from simulator.workload.buffers import buffers
from simulator.workload.holdings import Holding
from simulator.workload.parameters import padded_vocabulary
from simulator.workload.stages import Case, Content, state


def peak(case: Case, held: tuple[Content, ...], moments: tuple[Holding, ...]) -> dict[str, float]:
    s = activations.setting(case.model, case.stack, case.parallelism, case.training)
    stored = state(case, held)
    offload = case.training.offload
    kept_on_gpu = 1 - offload.activations if offload else 1.0
    sizes = [kept_on_gpu * kept(case, s, chunk) for chunk in held]
    head = _head(case, s)
    best = (-1.0, 0.0, 0.0)
    for moment in moments:
        flight = sum(count * nbytes for count, nbytes in zip(moment.counts, sizes, strict=True))
        work = 0.0 if moment.forward else _work(case, s, held[moment.chunk])
        logits = _logits(head, held, moment)
        best = max(best, (flight + work + logits, flight + work, logits))
    return {
        "weights": stored.weights * (1 - offload.parameters if offload else 1.0),
        "gradients": stored.gradients,
        "optimizer": stored.optimizer * (1 - offload.optimizer if offload else 1.0),
        "activations": best[1],
        "logits": best[2],
        "buffers": buffers(case, s, held),
        "overhead": case.stack.process_overhead,
    }


class Head(NamedTuple):
    peak: Bytes
    waiting: Bytes
    delayed: Bytes


def _head(case: Case, s: Setting) -> Head:
    vocabulary = padded_vocabulary(case.model.vocabulary, case.parallelism.tensor)
    heads = 1 + case.model.mtp
    waiting = activations.waiting_head(s, vocabulary)
    return Head(
        peak=activations.head(s, vocabulary) + case.model.mtp * waiting,
        waiting=heads * waiting,
        delayed=heads * activations.delayed_head(s, vocabulary),
    )


def _logits(head: Head, held: tuple[Content, ...], moment: Holding) -> Bytes:
    """Return what head and loss take; the microbatch at work is at their peak or, in its layers' backward, past it."""
    total = 0.0
    for count, delayed, content in zip(moment.counts, moment.delayed, held, strict=True):
        if content.head:
            total += (count - delayed) * head.waiting + delayed * head.delayed
    if held[moment.chunk].head:
        total += (head.peak if moment.forward else 0.0) - head.waiting
    return total


def _recomputed(case: Case, chunk: Content) -> int:
    """Return how many layers of a chunk are recomputed; a number given for a stage is spread over its chunks."""
    layers = chunk.dense + chunk.experts
    given = case.training.recompute.layers
    if case.training.recompute.kind == "none":
        return 0
    return layers if given is None else min(layers, -(-given // case.parallelism.schedule.chunks_per_stage))


def kept(case: Case, s: Setting, chunk: Content) -> Bytes:
    """Return what one microbatch keeps on a chunk from its forward to its backward."""
    recompute = case.training.recompute
    layers = chunk.dense + chunk.experts
    again = _recomputed(case, chunk)
    total = 0.0
    for count, experts in ((chunk.dense, False), (chunk.experts, True)):
        if not count:
            continue
        part = again * count / layers
        whole = sum(activations.kept(s, "none", (), experts).values())
        if recompute.kind == "sqrt":
            part_kept = activations.stream(s) * part / _segment(again)
        else:
            part_kept = part * sum(activations.kept(s, recompute.kind, recompute.modules, experts).values())
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
        layer = sum(activations.kept(s, "none", (), case.model.has_experts(case.model.layers)).values())
        total += case.model.mtp * (joined + layer)
    return total


def _segment(layers: int) -> int:
    """Return the layers between two checkpoints of square-root recompute (Chen et al., 2016, arXiv 1604.06174)."""
    return max(isqrt(layers), 1)


def _work(case: Case, s: Setting, chunk: Content) -> Bytes:
    """Return what the backward of one layer needs beyond what was kept: gradients, and what it computes again."""
    layers = chunk.dense + chunk.experts
    if not layers:
        return activations.stream(s)
    recompute = case.training.recompute
    most = 0.0
    for count, experts in ((chunk.dense, False), (chunk.experts, True)):
        if not count:
            continue
        again = 0.0
        if _recomputed(case, chunk):
            whole = sum(activations.layer(s, experts).values())
            again = whole - sum(activations.kept(s, recompute.kind, recompute.modules, experts).values())
            if recompute.kind == "sqrt":
                again = _segment(layers) * whole - activations.stream(s)
        most = max(most, again + activations.gradients(s, experts))
    return most


def offloaded(case: Case, held: tuple[Content, ...]) -> Bytes:
    """Return the host memory of one rank's offloaded state and activations."""
    offload = case.training.offload
    if offload is None or offload.to != "cpu":
        return 0.0
    s = activations.setting(case.model, case.stack, case.parallelism, case.training)
    stored = state(case, held)
    flight = sum(kept(case, s, chunk) for chunk in held)
    return offload.optimizer * stored.optimizer + offload.parameters * stored.weights + offload.activations * flight
