"""What each axis sends over the links in a step, for the load of the fabric."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from simulator.engine.assembly import Assembly
from simulator.engine.stage_units import kinds_of
from simulator.machine import collectives
from simulator.machine.network import Carried
from simulator.workload import ends, layer, recompute
from simulator.workload.operations import Exchange, Program


def carried(assembly: Assembly) -> tuple[Carried, ...]:
    """Return what a group of each axis sends in a step, the mean over the stages."""
    inputs, channels = assembly.inputs, assembly.durations.channels
    work = assembly.step()
    sums: dict[str, float] = {}
    for program, count in _programs(assembly):
        for operation in program:
            if isinstance(operation.work, Exchange):
                axis = operation.work.axis
                sent = operation.share * count * inputs.microbatches * _wire(assembly, operation.work)
                sums[axis] = sums.get(axis, 0.0) + sent
    rounds = -(-inputs.microbatches // work.schedule.round_size(work.stages, work.microbatches))
    for part in work.chunks:
        reduced = rounds if work.reduce_each_round else 1
        sums["shard"] = sums.get("shard", 0.0) + part.gather.nbytes + reduced * part.reduce.nbytes
    if assembly.data.sharded:
        sums["shard"] = inputs.microbatches * _gathered(assembly)
    sums["pipeline"] = 2 * (len(work.chunks) - 1) * inputs.microbatches * work.send.nbytes
    return tuple(
        Carried(channels[axis], nbytes / work.stages, "exchange" if axis == "expert" else "ring")
        for axis, nbytes in sums.items()
        if nbytes > 0 and channels[axis].ranks > 1
    )


def _gathered(assembly: Assembly) -> float:
    """Return the bytes of a microbatch under parameter sharding: weights twice, gradients once."""
    data, sent = assembly.data, 0.0
    for part in assembly.chunks:
        for unit in assembly.held(part):
            nbytes = unit.count * unit.dense
            gather = _wire(assembly, Exchange("shard", "all_gather", nbytes * data.weight))
            reduce = _wire(assembly, Exchange("shard", "reduce_scatter", nbytes * data.gradient))
            sent += (1 if assembly.inputs.stack.keep_unsharded else 2) * gather + reduce
    return sent


def _programs(assembly: Assembly) -> Iterator[tuple[Program, int]]:
    """Return every program of a microbatch and how often a replica runs it."""
    units = assembly.units
    for kind, count in Counter(kinds_of(assembly.inputs.model)).items():
        shape = units.shape_of(kind)
        for program in (layer.forward(shape), layer.backward(shape), recompute.recomputed(shape)):
            yield program, count
    for end in (ends.embedding_forward, ends.embedding_backward, ends.head_forward, ends.head_backward):
        yield end(units.shape), 1


def _wire(assembly: Assembly, exchange: Exchange) -> float:
    durations = assembly.durations
    channel = durations.channels[exchange.axis]
    return collectives.wire_bytes(exchange.operation, exchange.nbytes, channel, durations.algorithm)
