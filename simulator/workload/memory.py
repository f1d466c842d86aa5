"""How much memory each stage needs at its peak, part by part, and whether that fits.

peak = state + buffers + what is kept x microbatches in flight + the larger of the loss head and the backward of
one layer, at the worst moment of the schedule's own order; the stage with the largest peak decides. Allocated is
what tensors take; reserved is what the caching allocator holds for them; process is what the driver shows, with
CUDA context, NCCL and library workspaces. Imbalance of experts and memory of CUDA graphs are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

from simulator.sums import added
from simulator.units import Bytes, Share
from simulator.workload import fits
from simulator.workload.holdings import Holding, holdings
from simulator.workload.layout import Chunk, Parallelism, Shard
from simulator.workload.memory_range import between, otherwise
from simulator.workload.model import Model
from simulator.workload.stack import Stack
from simulator.workload.stage_peak import flight, offloaded, still
from simulator.workload.stages import Case, Content, by_stage
from simulator.workload.training import Recompute, Training


@dataclass(frozen=True, kw_only=True)
class MemoryEstimate:
    """Field by field what a result says of memory, with the range and the verdict."""

    capacity_bytes: Bytes
    usable_bytes: Bytes
    peak_bytes: Bytes
    """Allocated and overhead of the worst stage."""
    low_bytes: Bytes
    high_bytes: Bytes
    allocated_bytes: Bytes
    reserved_bytes: Bytes
    process_bytes: Bytes
    p_fits: Share
    host_peak_bytes: Bytes
    """Host memory that offloaded state takes on one host."""
    host_bytes: Bytes
    """Memory of a host; 0 where it is not known."""
    worst_stage: int
    stages: tuple[dict[str, float], ...]
    verdict: Literal["fits", "tight", "oom"]


def estimate(
    model: Model,
    stack: Stack,
    parallelism: Parallelism,
    training: Training,
    *,
    data: int,
    microbatches: int,
    chunks: Sequence[Chunk],
    usable: Bytes,
    capacity: Bytes,
    gpus_per_host: int = 8,
    host_memory: Bytes | None = None,
    expert_capacity: float | None = None,
) -> MemoryEstimate:
    """Return the peak of every stage, and whether the worst one fits in `usable` bytes and what is offloaded in a host.

    Where `host_memory` is not known, hosts are taken to have enough.
    """
    case = Case(model, stack, parallelism, training, data, microbatches, expert_capacity)
    contents = by_stage(case, chunks)
    moments = tuple(
        holdings(parallelism.schedule, stage, parallelism.pipeline, microbatches) for stage in range(len(contents))
    )
    stages = _stages(case, contents, moments)
    peaks = [added(parts.values()) for parts in stages]
    worst = peaks.index(max(peaks))
    others = otherwise(case, contents[worst], moments[worst])
    low, high = between(peaks[worst], [added(parts.values()) for parts in others], stack.memory_spread)
    overhead = stages[worst]["overhead"]
    allocated = peaks[worst] - overhead
    reserved = max(allocated, min(allocated * stack.reserved_factor, usable - overhead))
    p_fits = fits.over_switches(
        _chance(case, stages[worst], usable), [_chance(case, parts, usable) for parts in others]
    )
    on_host = gpus_per_host * max(offloaded(case, held) for held in contents)
    if on_host and host_memory:
        p_fits *= fits.chance(on_host, host_memory)
    return MemoryEstimate(
        capacity_bytes=capacity,
        usable_bytes=usable,
        peak_bytes=peaks[worst],
        low_bytes=low,
        high_bytes=high,
        allocated_bytes=allocated,
        reserved_bytes=reserved,
        process_bytes=reserved + overhead,
        p_fits=p_fits,
        host_peak_bytes=on_host,
        host_bytes=host_memory or 0.0,
        worst_stage=worst,
        stages=tuple(
            {f"{name}_bytes": nbytes for name, nbytes in parts.items()} | {"peak_bytes": total}
            for parts, total in zip(stages, peaks, strict=True)
        ),
        verdict=fits.verdict(p_fits),
    )


def _stages(
    case: Case, contents: tuple[tuple[Content, ...], ...], moments: tuple[tuple[Holding, ...], ...]
) -> list[dict[str, float]]:
    """Return the named parts of each stage at its peak."""
    layout, training = case.parallelism, case.training
    still = replace(case, training=_without_recompute(training), microbatches=1)
    moving = replace(case, parallelism=_unsharded(layout), training=_one_microbatch(training), data=1, microbatches=1)
    stays, moves = _stays(still, contents), _moves(moving, contents, moments)
    return [
        parts | {"activations": activations, "logits": logits}
        for parts, (activations, logits) in zip(stays, moves, strict=True)
    ]


@lru_cache(maxsize=512)
def _stays(case: Case, contents: tuple[tuple[Content, ...], ...]) -> tuple[dict[str, float], ...]:
    """Return the parts of each stage that stay, which do not depend on batches and what is recomputed."""
    seen = {held: still(case, held) for held in dict.fromkeys(contents)}
    return tuple(seen[held] for held in contents)


@lru_cache(maxsize=512)
def _moves(
    case: Case, contents: tuple[tuple[Content, ...], ...], moments: tuple[tuple[Holding, ...], ...]
) -> tuple[tuple[Bytes, Bytes], ...]:
    """Return activations and logits of each stage at its peak, which do not depend on batches and sharing of state.

    Stages of equal content and order are counted once.
    """
    seen: dict[tuple, tuple[Bytes, Bytes]] = {}
    for key in zip(contents, moments, strict=True):
        if key not in seen:
            seen[key] = flight(case, *key)
    return tuple(seen[key] for key in zip(contents, moments, strict=True))


@lru_cache(maxsize=1024)
def _without_recompute(training: Training) -> Training:
    return replace(_one_microbatch(training), recompute=Recompute())


@lru_cache(maxsize=1024)
def _one_microbatch(training: Training) -> Training:
    """Return what one microbatch depends on."""
    return Training(
        sequence_length=training.sequence_length,
        microbatch=training.microbatch,
        precision=training.precision,
        optimizer=training.optimizer,
        recompute=training.recompute,
        states=training.states,
        offload=training.offload,
    )


@lru_cache(maxsize=1024)
def _unsharded(parallelism: Parallelism) -> Parallelism:
    return replace(parallelism, shard=Shard())


def _chance(case: Case, parts: dict[str, float], usable: Bytes) -> Share:
    """Return the chance that a stage with these parts at its peak fits."""
    return fits.chance(
        added(parts.values()),
        usable,
        moving=parts["activations"] + parts["logits"] + parts["buffers"],
        expandable=case.stack.expandable_segments,
        chunks=case.parallelism.schedule.chunks_per_stage,
        spread=case.stack.memory_spread,
    )
