"""How much memory each stage needs at its peak, part by part, and whether that fits.

peak = state + buffers + what is kept x microbatches in flight + the larger of the loss head and the backward of
one layer, at the worst moment of the schedule's own order; or state and the copies of the optimizer's update, where
that is more. The stage with the largest peak decides. Allocated is what tensors take; reserved is what the caching
allocator holds for them; process is what the driver shows, with CUDA context, NCCL and library workspaces. Memory of
CUDA graphs is left out.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

from simulator.sums import added
from simulator.units import Bytes, Share
from simulator.workload import fits
from simulator.workload.holdings import Holding, holdings
from simulator.workload.layer import NOTHING
from simulator.workload.memory_range import between, otherwise
from simulator.workload.replica import Content, Replica
from simulator.workload.stage_peak import Updating, flight, larger, offloaded, still, updating


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
    replica: Replica, *, usable: Bytes, capacity: Bytes, gpus_per_host: int = 8, host_memory: Bytes | None = None
) -> MemoryEstimate:
    """Return the peak of every stage, and whether the worst one fits in `usable` bytes and what is offloaded in a host.

    Where `host_memory` is not known, hosts are taken to have enough.
    """
    stack, pipeline, contents = replica.rank.stack, replica.rank.pipeline, replica.stages
    moments = tuple(holdings(replica.schedule, stage, pipeline, replica.microbatches) for stage in range(pipeline))
    stages = _stages(replica, moments)
    peaks = [added(parts.values()) for parts in stages]
    worst = peaks.index(max(peaks))
    others = otherwise(replica, contents[worst], moments[worst])
    low, high = between(peaks[worst], [added(parts.values()) for parts in others], stack.memory_spread)
    overhead = stages[worst]["overhead"]
    allocated = peaks[worst] - overhead
    reserved = max(allocated, min(allocated * stack.reserved_factor, usable - overhead))
    p_fits = fits.over_switches(
        _chance(replica, stages[worst], usable), [_chance(replica, parts, usable) for parts in others]
    )
    on_host = gpus_per_host * max(offloaded(replica, held) for held in contents)
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


def _stages(replica: Replica, moments: tuple[tuple[Holding, ...], ...]) -> list[dict[str, float]]:
    """Return the named parts of each stage at its peak."""
    once = replace(replica, chunks=(), microbatches=1)
    stays = _stays(replace(once, recompute=NOTHING), replica.stages)
    moves = _moves(replace(once, rank=replica.rank.alone), replica.stages, moments)
    return [larger(parts, moved, update) for (parts, update), moved in zip(stays, moves, strict=True)]


@lru_cache(maxsize=512)
def _stays(
    replica: Replica, contents: tuple[tuple[Content, ...], ...]
) -> tuple[tuple[dict[str, float], Updating], ...]:
    """Return the parts of each stage that stay, and its update: neither depends on batches and what is recomputed."""
    seen = {held: (still(replica, held), updating(replica, held)) for held in dict.fromkeys(contents)}
    return tuple(seen[held] for held in contents)


@lru_cache(maxsize=512)
def _moves(
    replica: Replica, contents: tuple[tuple[Content, ...], ...], moments: tuple[tuple[Holding, ...], ...]
) -> tuple[tuple[Bytes, Bytes], ...]:
    """Return activations and logits of each stage at its peak, which do not depend on batches and sharing of state.

    Stages of equal content and order are counted once.
    """
    keys = tuple(zip(contents, moments, strict=True))
    seen = {key: flight(replica, *key) for key in dict.fromkeys(keys)}
    return tuple(seen[key] for key in keys)


def _chance(replica: Replica, parts: dict[str, float], usable: Bytes) -> Share:
    """Return the chance that a stage with these parts at its peak fits."""
    return fits.chance(
        added(parts.values()),
        usable,
        moving=parts["activations"] + parts["logits"] + parts["buffers"] + parts["update"],
        expandable=replica.rank.stack.expandable_segments,
        chunks=replica.schedule.chunks_per_stage,
        spread=replica.rank.stack.memory_spread,
    )
