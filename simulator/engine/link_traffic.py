"""What each axis sends over the links in a step, for the load of the fabric."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from simulator.engine.assembly import Assembly
from simulator.engine.contents import kinds_of
from simulator.engine.stage_units import Unit
from simulator.machine import collectives
from simulator.machine.network import Carried
from simulator.units import Bytes, Number
from simulator.workload import ends, layer, recompute
from simulator.workload.operations import Exchange, Program

Sent = Iterator[tuple[Exchange, Number]]
"""Exchanges, and how often the stages together do each in a step."""


def carried(assembly: Assembly) -> dict[str, Carried]:
    """Return what a group of each axis sends in a step, the mean over the stages; axes that send nothing left out."""
    channels, algorithm = assembly.durations.channels, assembly.durations.algorithm
    wires: dict[str, Bytes] = {}
    ups: dict[str, Bytes] = {}
    for exchange, times in _all(assembly):
        axis, channel = exchange.axis, channels[exchange.axis]
        nbytes = exchange.to_hosts(channel.hosts)
        wire = collectives.wire_bytes(exchange.operation, nbytes, channel, algorithm)
        up = collectives.scale_up_bytes(exchange.operation, exchange.nbytes, channel, algorithm)
        wires[axis] = wires.get(axis, 0.0) + times * wire
        ups[axis] = ups.get(axis, 0.0) + times * up
    stages = assembly.inputs.parallelism.pipeline
    return {
        axis: Carried(channels[axis], nbytes / stages, "exchange" if axis == "expert" else "ring", ups[axis] / stages)
        for axis, nbytes in wires.items()
        if (nbytes > 0 or ups[axis] > 0) and channels[axis].ranks > 1
    }


def _all(assembly: Assembly) -> Sent:
    microbatches = assembly.inputs.microbatches
    for program, count in _programs(assembly):
        for operation in program:
            if isinstance(operation.work, Exchange):
                yield operation.work, operation.share * count * microbatches
    yield from _between_stages(assembly)
    for part in assembly.chunks:
        for unit in assembly.held(part).units:
            yield from _of_weights(assembly, unit)


def _between_stages(assembly: Assembly) -> Sent:
    """Yield what stages hand on, forward and back; receivers that need the whole gather it from tensor ranks."""
    parallelism, residual = assembly.inputs.parallelism, assembly.units.shape.residual_bytes
    after = zip(assembly.chunks, assembly.chunks[1:], strict=False)
    times = 2 * assembly.inputs.microbatches * sum(one.stage != other.stage for one, other in after)
    yield Exchange("pipeline", "send", residual / parallelism.tensor), times
    if not parallelism.sequence:
        yield Exchange("tensor", "all_gather", residual), times


def _of_weights(assembly: Assembly, unit: Unit) -> Sent:
    """Yield gradients and weights of a unit: once a step, in rounds, or in every microbatch where sharded."""
    data, inputs = assembly.data, assembly.inputs
    scattered = data.level != "none"
    gathered, reduced = float(scattered), 1.0
    if data.sharded:
        reduced = inputs.microbatches
        gathered = reduced * data.gathers
    elif inputs.stack.reduce_each_round and data.level == "gradients":
        schedule = inputs.parallelism.schedule
        reduced = -(-inputs.microbatches // schedule.round_size(inputs.parallelism.pipeline, inputs.microbatches))
    operation = "reduce_scatter" if scattered else "all_reduce"
    for count, axis in ((unit.dense, "shard"), (unit.experts, "expert_data")):
        yield Exchange(axis, operation, unit.count * count * data.gradient), reduced
        yield Exchange(axis, "all_gather", unit.count * count * data.weight), gathered
    shares = assembly.durations.channels["shard"].ranks if scattered else 1
    yield Exchange("replicate", "all_reduce", unit.count * unit.dense * data.gradient / shares), reduced


def _programs(assembly: Assembly) -> Iterator[tuple[Program, int]]:
    """Return every program of a microbatch and how often a replica runs it."""
    units = assembly.units
    for kind, count in Counter(kinds_of(assembly.inputs.model)).items():
        shape = units.shape_of(kind)
        for program in (layer.forward(shape), layer.backward(shape), recompute.recomputed(shape)):
            yield program, count
    for end in (ends.embedding_forward, ends.embedding_backward, ends.head_forward, ends.head_backward):
        yield end(units.shape), 1
