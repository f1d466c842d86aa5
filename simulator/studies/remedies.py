"""What can be changed to need less memory: one function a kind of change, mildest first.

Each yields changes of its kind, from the mildest to the strongest; what contradicts the rest of the scenario is left
out by who asks. What changes how a model learns (batch, precision, optimizer, the model itself) is not among them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Literal

from simulator import catalog, units
from simulator.machine import hardware
from simulator.machine.hardware import Gpu
from simulator.scenario.scenario import Scenario
from simulator.studies.changes import Change, cluster, layout, stack, training
from simulator.units import Count
from simulator.workload.layout import Parallelism, Shard
from simulator.workload.schedules import Schedule
from simulator.workload.schedules.interleaved_1f1b import InterleavedOneForwardOneBackward
from simulator.workload.schedules.one_f_one_b import OneForwardOneBackward
from simulator.workload.schedules.zb_h1 import ZeroBubbleH1
from simulator.workload.training import Recompute

Remedy = Callable[[Scenario], Iterator[Change]]
Level = Literal["none", "optimizer", "gradients", "parameters"]

SHARDED = {
    "optimizer": "optimizer state sharded",
    "gradients": "optimizer state and gradients sharded",
    "parameters": "all state sharded",
}
MOST_HOSTS = 64
"""Times as many hosts as there are, up to which more are tried."""

MOST_STEPS = 128
"""Numbers of layers to recompute that are tried; the deepest models that are known have 126 layers."""


def expandable_segments(s: Scenario) -> Iterator[Change]:
    """PyTorch's allocator can grow its segments, which leaves fewer holes (PyTorch 2.1 and later)."""
    if not s.stack.expandable_segments:
        yield stack(s, "expandable segments", expandable_segments=True)


def sequence(s: Scenario) -> Iterator[Change]:
    if _layout(s).tensor > 1 and not _layout(s).sequence:
        yield layout(s, "sequence parallelism", sequence=True)


def loss(s: Scenario) -> Iterator[Change]:
    """Logits in chunks instead of all at once."""
    if s.stack.loss != "chunked":
        yield stack(s, "loss in chunks", loss="chunked")


def selective(s: Scenario) -> Iterator[Change]:
    if s.training.recompute.kind == "none":
        settings = ("training.recompute=selective",)
        yield training(s, "selective recompute", settings, recompute=Recompute(kind="selective"))


def recompute(s: Scenario) -> Iterator[Change]:
    """Full recompute of one layer a stage, of two, and so on; in at most `MOST_STEPS` steps."""
    given = s.training.recompute
    if given.kind in ("full", "sqrt") and given.layers is None:
        return
    assert s.model is not None
    layers = -(-s.model.layers // _layout(s).pipeline)
    first = (given.layers or 0) + 1 if given.kind == "full" else 1
    for count in range(first, layers, -(-layers // MOST_STEPS)):
        settings = (f"training.recompute={{kind: full, layers: {count}}}",)
        what = f"full recompute of {count} of {layers} layers a stage"
        yield training(s, what, settings, recompute=Recompute(kind="full", layers=count))
    yield training(s, "full recompute", ("training.recompute=full",), recompute=Recompute(kind="full"))


def microbatch(s: Scenario) -> Iterator[Change]:
    now = s.training.microbatch
    for size in range(now - 1, 0, -1):
        if now % size == 0:
            yield training(s, f"microbatch {size}", (f"training.microbatch={size}",), microbatch=size)


def schedule(s: Scenario) -> Iterator[Change]:
    """Fewer chunks a stage, then schedules that hold fewer microbatches."""
    p = _layout(s)
    if p.pipeline == 1:
        return
    chunks = p.schedule.chunks_per_stage
    if isinstance(p.schedule, InterleavedOneForwardOneBackward):
        for fewer in range(chunks - 1, 1, -1):
            if chunks % fewer == 0:
                yield layout(s, f"{fewer} chunks a stage", schedule=InterleavedOneForwardOneBackward(chunks=fewer))
    calmer: tuple[Schedule, ...] = (ZeroBubbleH1(), OneForwardOneBackward())
    if p.schedule.kind in ("interleaved-1f1b", "gpipe", "zb-h1"):
        calmer = calmer[1:]
    for other in calmer:
        if p.schedule.kind != other.kind:
            yield layout(s, f"schedule {other.kind}", schedule=other)


def shard(s: Scenario) -> Iterator[Change]:
    """Shard more, over more ranks. With a pipeline only the optimizer: gradients of all microbatches are summed first,
    and frameworks that shard them too would reduce after each."""
    p = _layout(s)
    if p.context.size * s.data == 1:
        return
    if p.shard.replicas > 1:
        yield Change(
            "sharding over all replicas",
            ("parallelism.shard.replicas=1",),
            replace(s, parallelism=replace(p, shard=Shard(level=p.shard.level))),
        )
    levels: tuple[Level, ...] = ("none", "optimizer", "gradients", "parameters")
    highest = len(levels) if p.pipeline == 1 else levels.index("optimizer") + 1
    for level in levels[levels.index(p.shard.level) + 1 : highest]:
        yield Change(
            SHARDED[level],
            (f"parallelism.shard.level={level}",),
            replace(s, parallelism=replace(p, shard=Shard(level=level, replicas=p.shard.replicas))),
        )


MOST_CONTEXT = 16
"""Ranks of a context group that are advised at most: as many as Llama 3 405B had at 131,072 tokens (arXiv 2407.21783,
table 4). Exchanges of larger groups take longer than the tokens that they hold."""


def context(s: Scenario) -> Iterator[Change]:
    p = _layout(s)
    for size in _multiples(p.context.size, s.data):
        if size > MOST_CONTEXT:
            return
        longer = replace(p, context=replace(p.context, size=size))
        yield Change(f"context {size}", (f"parallelism.context.size={size}",), replace(s, parallelism=longer))


def tensor(s: Scenario) -> Iterator[Change]:
    """Wider tensor parallelism, as far as the scale-up domain goes."""
    domain = min(s.cluster.host.scale_up.domain, s.gpus)
    for size in _multiples(_layout(s).tensor, s.data):
        if size <= domain:
            yield layout(s, f"tensor {size}", tensor=size)


def pipeline(s: Scenario) -> Iterator[Change]:
    """More stages, with fewer chunks on each where it has several."""
    p = _layout(s)
    for size in _multiples(p.pipeline, s.data):
        yield staged(s, size)


def staged(s: Scenario, stages: Count) -> Change:
    """Return the scenario with so many stages; chunks stay as large as they are where they can."""
    p = _layout(s)
    chunks, times = p.schedule.chunks_per_stage, stages // p.pipeline
    if isinstance(p.schedule, InterleavedOneForwardOneBackward) and chunks > times and chunks % times == 0:
        fewer = InterleavedOneForwardOneBackward(chunks=chunks // times)
        return layout(s, f"pipeline {stages}, {chunks // times} chunks a stage", pipeline=stages, schedule=fewer)
    return layout(s, f"pipeline {stages}", pipeline=stages)


def expert(s: Scenario) -> Iterator[Change]:
    """Experts over more ranks."""
    if s.model is None or s.model.experts is None:
        return
    for size in _multiples(_layout(s).expert, s.model.experts.count):
        yield layout(s, f"expert {size}", expert=size)


def hosts(s: Scenario) -> Iterator[Change]:
    """More hosts: as more replicas that share the state, as wider tensor parallelism, or as more stages."""
    p, times = _layout(s), 2
    while times <= MOST_HOSTS:
        more = multiplied(s, times)
        if p.shard.level != "none":
            yield more
        if times * p.tensor <= s.cluster.host.scale_up.domain:
            yield more.then(layout(more.scenario, f"tensor {times * p.tensor}", tensor=times * p.tensor))
        yield more.then(staged(more.scenario, times * p.pipeline))
        times *= 2


def multiplied(s: Scenario, times: Count) -> Change:
    """Return the scenario with so many times the hosts."""
    count = times * s.cluster.hosts
    return cluster(s, f"{count:,} hosts", (f"cluster.hosts={count}",), hosts=count)


def gpu(s: Scenario) -> Iterator[Change]:
    """Another GPU with more memory in the same hosts, of those that have a price and speak over the same links."""
    host = s.cluster.host
    known = [hardware.gpu(name) for name in catalog.entry("prices", "default")["gpu_hour"]]
    alike = [other for other in known if _links(other) == _links(host.gpu)]
    larger = [other for other in alike if other.usable_memory > host.gpu.usable_memory]
    for other in sorted(larger, key=lambda other: other.usable_memory):
        settings = [f"cluster.host.gpu={other.name}"]
        scale_up = host.scale_up
        if scale_up.bandwidth and other.scale_up != scale_up.bandwidth:
            scale_up = replace(scale_up, bandwidth=other.scale_up)
            settings.append(f"cluster.host.scale_up.bandwidth={units.render(other.scale_up, 'B/s')}")
        yield cluster(s, other.name, tuple(settings), host=replace(host, gpu=other, scale_up=scale_up))


def _links(gpu: Gpu) -> str:
    """Return the kind of scale-up link whatever its generation.

    >>> "NVLink4".rstrip("0123456789")
    'NVLink'
    """
    return gpu.scale_up_kind.rstrip("0123456789")


REMEDIES: tuple[Remedy, ...] = (
    expandable_segments,
    sequence,
    loss,
    selective,
    recompute,
    microbatch,
    schedule,
    shard,
    context,
    tensor,
    pipeline,
    expert,
    hosts,
    gpu,
)
"""In the order in which they are tried; the order of the advice is that of the cost."""


def _layout(s: Scenario) -> Parallelism:
    assert s.parallelism is not None
    return s.parallelism


def _multiples(size: Count, over: Count) -> Iterator[Count]:
    """Yield `size` times the divisors of `over`, which takes in that many ranks.

    >>> list(_multiples(2, 12))
    [4, 6, 8, 12, 24]
    """
    return (size * factor for factor in range(2, min(over, MOST_HOSTS) + 1) if over % factor == 0)
