"""Builds the work of a step: layers into chunks, chunks into stages, gradients and states into transfers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

from simulator.engine.durations import Durations
from simulator.engine.streams import Item, Play, play
from simulator.engine.work import ChunkWork, Piece, StepWork, Transfer
from simulator.machine import collectives
from simulator.machine.channel import Channel
from simulator.machine.hardware import Gpu
from simulator.machine.kernels import attention, optimizer
from simulator.machine.network import Carried, Network
from simulator.scenario.cluster import Cluster
from simulator.scenario.scenario import Scenario
from simulator.units import Seconds
from simulator.workload import ends, layer
from simulator.workload.layer import Shape
from simulator.workload.layout import Chunk, Parallelism, axes, chunks
from simulator.workload.model import Model
from simulator.workload.operations import Exchange, Program
from simulator.workload.parameters import embedding_on_rank, head_on_rank, layer_on_rank, mtp_on_rank
from simulator.workload.stack import Stack
from simulator.workload.states import WIDTH, widths
from simulator.workload.training import Training

BACKWARD_LAUNCHES = 1.6
"""Kernels of a backward over those of its forward, as the host launches them (two products for one, fewer casts)."""


@dataclass(frozen=True)
class Inputs:
    """All that a step depends on: what is trained, on what, how it is split."""

    model: Model
    stack: Stack
    parallelism: Parallelism
    training: Training
    data: int
    microbatches: int
    imbalance: float = 1.0


class Assembly:
    """Prices the chunks of one step; each kind of layer is played once."""

    def __init__(self, inputs: Inputs, durations: Durations) -> None:
        self.inputs = inputs
        self.durations = durations
        self._played: dict[Program, Play] = {}
        self._layers: dict[Shape, LayerPieces] = {}
        self.kernel = attention_kernel(inputs.stack, durations.gpu)
        self.shape = Shape(
            inputs.model,
            inputs.stack,
            inputs.parallelism,
            inputs.training,
            self.kernel,
            imbalance=inputs.imbalance,
        )
        shard = inputs.parallelism.shard
        self.sharded = shard.level == "parameters" and durations.channels["shard"].ranks > 1

    # Layers.

    def shape_of(self, index: int) -> Shape:
        model = self.inputs.model
        return replace(self.shape, experts=model.has_experts(index), window=model.window(index))

    def played(self, program: Program) -> Play:
        known = self._played.get(program)
        if known is None:
            known = self._played[program] = self.durations.play(program)
        return known

    def host_seconds(self, experts: bool) -> Seconds:
        """Time the host needs to launch the forward of a layer; CUDA graphs launch it in one call."""
        stack = self.inputs.stack
        if stack.cuda_graphs:
            return 0.0
        if experts:
            return stack.cpu_layer_expert
        return stack.cpu_layer_tensor if self.inputs.parallelism.tensor > 1 else stack.cpu_layer

    def layer(self, shape: Shape) -> LayerPieces:
        known = self._layers.get(shape)
        if known is None:
            known = self._layers[shape] = LayerPieces(self, shape)
        return known

    # Chunks.

    def chunk(self, part: Chunk) -> ChunkWork:
        shapes = Counter(self.shape_of(index) for index in range(part.first, part.last))
        share = self._recomputed_share(part)
        units: list[Unit] = []
        if part.embedding:
            units.append(self._end(ends.embedding_forward, ends.embedding_backward))
            units[-1] = replace(units[-1], **self._end_weights(part, embedding=True))
        for shape, count in shapes.items():
            index = next(i for i in range(part.first, part.last) if self.shape_of(i) == shape)
            pieces = self.layer(shape)
            units.append(
                Unit(
                    count=count,
                    forward=pieces.forward,
                    backward=pieces.backward + pieces.recompute * share,
                    input_gradient=pieces.input_gradient + pieces.recompute * share,
                    weight_gradient=pieces.weight_gradient,
                    **self._layer_weights(index),
                )
            )
        if part.head:
            units += self._mtp(part)
            units.append(self._end(ends.head_forward, ends.head_backward))
            units[-1] = replace(units[-1], **self._end_weights(part, embedding=False))
        dense = sum(unit.count * unit.dense for unit in units)
        experts = sum(unit.count * unit.experts for unit in units)
        reduce, gather = self._data_transfers(dense, experts)
        whole = {name: self._sum(units, name) for name in ("forward", "backward", "input_gradient", "weight_gradient")}
        if self.sharded:
            whole |= self._gathered(units)
            reduce = gather = Transfer()
        if self.inputs.stack.cpu_microbatch and part.chunk == 0:
            host = self.inputs.stack.cpu_microbatch
            whole["forward"] += Piece(host, {"other": host})
        return ChunkWork(layers=max(part.layers, 1), reduce=reduce, gather=gather, **whole)

    @staticmethod
    def _sum(units: list[Unit], name: str) -> Piece:
        return sum((getattr(unit, name) * unit.count for unit in units), Piece())

    def _recomputed_share(self, part: Chunk) -> float:
        """Share of a chunk's layers that are recomputed, where the scenario gives a number of layers a stage."""
        recompute = self.inputs.training.recompute
        if recompute.layers is None or not part.layers:
            return 1.0
        per_chunk = recompute.layers / self.inputs.parallelism.schedule.chunks_per_stage
        return min(1.0, per_chunk / part.layers)

    def _end(self, forward, backward) -> Unit:  # type: ignore[no-untyped-def]
        there, back = piece(self.played(forward(self.shape))), piece(self.played(backward(self.shape)))
        weight, rest = _split(backward(self.shape))
        return Unit(
            forward=there,
            backward=back,
            input_gradient=piece(self.played(rest)),
            weight_gradient=piece(self.played(weight)),
        )

    def _mtp(self, part: Chunk) -> list[Unit]:
        """Multi-token-prediction modules: one more layer, a joining projection and the shared head."""
        model = self.inputs.model
        if not model.mtp:
            return []
        pieces = self.layer(self.shape_of(model.layers))
        head = self._end(ends.head_forward, ends.head_backward)
        on_rank = mtp_on_rank(model, **self._ways)
        return [
            Unit(
                count=model.mtp,
                forward=pieces.forward + head.forward,
                backward=pieces.backward + pieces.recompute + head.backward,
                input_gradient=pieces.input_gradient + pieces.recompute + head.input_gradient,
                weight_gradient=pieces.weight_gradient + head.weight_gradient,
                dense=on_rank["dense"] / model.mtp,
                experts=on_rank["experts"] / model.mtp,
            )
        ]

    # Weights and the data axis.

    @cached_property
    def _ways(self) -> dict[str, int]:
        parallelism = self.inputs.parallelism
        return {
            "tensor": parallelism.tensor,
            "expert": parallelism.expert,
            "expert_tensor": parallelism.expert_tensor,
        }

    def _layer_weights(self, index: int) -> dict[str, float]:
        return layer_on_rank(self.inputs.model, index, **self._ways)

    def _end_weights(self, part: Chunk, *, embedding: bool) -> dict[str, float]:
        model, tensor = self.inputs.model, self.inputs.parallelism.tensor
        if embedding:
            return {"dense": sum(embedding_on_rank(model, tensor=tensor).values())}
        counts = head_on_rank(model, tensor=tensor)
        if model.tied and part.embedding:
            counts.pop("head")
        return {"dense": sum(counts.values())}

    def _data_transfers(self, dense: float, experts: float) -> tuple[Transfer, Transfer]:
        """Reduction of the gradients and gathering of the weights of a chunk with these parameters."""
        stack, level = self.inputs.stack, self.inputs.parallelism.shard.level
        wire = WIDTH[stack.gradient_reduce]
        weights = WIDTH[self.inputs.training.states.weights]
        reduce, gather = Transfer(), Transfer()
        for count, axis in ((dense, "shard"), (experts, "expert_data")):
            if not count:
                continue
            if level == "none":
                reduce = _join(reduce, self.transfer(Exchange(axis, "all_reduce", count * wire)))
            else:
                reduce = _join(reduce, self.transfer(Exchange(axis, "reduce_scatter", count * wire)))
                gather = _join(gather, self.transfer(Exchange(axis, "all_gather", count * weights)))
            if axis == "shard" and self.durations.channels["replicate"].ranks > 1:
                ranks = self.durations.channels["shard"].ranks if level != "none" else 1
                reduce = _join(reduce, self.transfer(Exchange("replicate", "all_reduce", count * wire / ranks)))
        return reduce, gather

    def _gathered(self, units: list[Unit]) -> dict[str, Piece]:
        """Chunk pieces under parameter sharding: weights gathered unit by unit ahead of compute, gradients scattered.

        A reduction follows the backward of its unit; gathers and reductions share the data stream.
        """
        stack = self.inputs.stack
        single = [replace(unit, count=1) for unit in units for _ in range(unit.count)]
        keep = stack.keep_unsharded
        weights = WIDTH[stack.gather or self.inputs.training.states.weights]
        gathers = [self._unit_seconds(unit, "all_gather", weights) for unit in single]
        scatters = [self._unit_seconds(unit, "reduce_scatter", WIDTH[stack.gradient_reduce]) for unit in single]
        forward = self._stream([u.forward for u in single], gathers, [0.0] * len(single))
        backs, nothing = [u.backward for u in reversed(single)], [0.0] * len(single)
        again = nothing if keep else [0.0, *reversed(gathers[:-1])]
        backward = self._stream(backs, again, list(reversed(scatters)))
        inputs = self._stream([u.input_gradient for u in reversed(single)], again, nothing)
        weight = self._stream([u.weight_gradient for u in reversed(single)], nothing, list(reversed(scatters)))
        return {"forward": forward, "backward": backward, "input_gradient": inputs, "weight_gradient": weight}

    def _unit_seconds(self, unit: Unit, operation: str, value_bytes: float) -> Seconds:
        seconds = 0.0
        for count, axis in ((unit.dense, "shard"), (unit.experts, "expert_data")):
            if count:
                seconds += self.durations.seconds(Exchange(axis, operation, count * value_bytes))
                replicas = self.durations.channels["replicate"]
                if operation == "reduce_scatter" and axis == "shard" and replicas.ranks > 1:
                    ranks = self.durations.channels["shard"].ranks
                    seconds += self.durations.seconds(Exchange("replicate", "all_reduce", count * value_bytes / ranks))
        return seconds

    def _stream(self, computes: list[Piece], before: list[float], after: list[float]) -> Piece:
        """Play units whose weights are gathered `prefetch` units ahead, with what each sends after it."""
        prefetch, items = self.inputs.stack.prefetch, list[Item]()
        position: dict[int, int] = {}

        def gather(index: int) -> None:
            if index < len(computes) and index not in position and before[index]:
                position[index] = len(items)
                items.append(Item("data", before[index]))

        for index, compute in enumerate(computes):
            for ahead in range(index, index + prefetch + 1):
                gather(ahead)
            waits = (position[index],) if index in position else ()
            items.append(Item("compute", compute.seconds, waits))
            if after[index]:
                items.append(Item("data", after[index]))
        played = play(items, self.inputs.stack.communication_sms)
        own = sum(computes, Piece())
        parts = dict(own.parts)
        parts["data"] = parts.get("data", 0.0) + played.seconds - own.seconds
        return Piece(played.seconds, parts)

    def transfer(self, exchange: Exchange) -> Transfer:
        """Return an exchange as a transfer that may share its links with others."""
        channel = self.durations.channels[exchange.axis]
        seconds = self.durations.seconds(exchange)
        return as_transfer(seconds, exchange, channel, self.durations.algorithm)

    # The step.

    def step(self) -> StepWork:
        inputs, stack = self.inputs, self.inputs.stack
        parts = chunks(inputs.model, stack, inputs.parallelism)
        level = inputs.parallelism.shard.level
        return StepWork(
            schedule=inputs.parallelism.schedule,
            stages=inputs.parallelism.pipeline,
            microbatches=inputs.microbatches,
            chunks=tuple(self.chunk(part) for part in parts),
            send=self._send(),
            blocking_send=not stack.overlap_pipeline,
            overlap_reduce=stack.overlap_gradient_reduce,
            reduce_each_round=stack.reduce_each_round and level == "gradients",
            overlap_gather=stack.overlap_parameter_gather,
            communication_sms=stack.communication_sms,
            optimizer=tuple(self._optimizer(parts, stage) for stage in range(inputs.parallelism.pipeline)),
            end=tuple(self._tail(parts, stage) for stage in range(inputs.parallelism.pipeline)),
        )

    def _send(self) -> Transfer:
        """A microbatch's activations: each tensor rank sends its part, and the receivers gather the whole over NVLink
        unless they work on parts (scatter-gather, Narayanan et al. 2021, 4.1; DeepSpeed's partitioned pipeline)."""
        parallelism = self.inputs.parallelism
        if parallelism.pipeline == 1:
            return Transfer()
        sent = self.transfer(Exchange("pipeline", "send", self.shape.residual_bytes / parallelism.tensor))
        if parallelism.tensor == 1 or parallelism.sequence:
            return sent
        return _join(sent, self.transfer(Exchange("tensor", "all_gather", self.shape.residual_bytes)))

    def _weights_of(self, parts: tuple[Chunk, ...], stage: int) -> tuple[float, float]:
        dense = experts = 0.0
        for part in parts:
            if part.stage != stage:
                continue
            for index in range(part.first, part.last):
                counts = self._layer_weights(index)
                dense, experts = dense + counts["dense"], experts + counts["experts"]
            if part.embedding:
                dense += self._end_weights(part, embedding=True)["dense"]
            if part.head:
                dense += self._end_weights(part, embedding=False)["dense"]
        return dense, experts

    def _optimizer(self, parts: tuple[Chunk, ...], stage: int) -> Piece:
        dense, experts = self._weights_of(parts, stage)
        if self.inputs.parallelism.shard.level != "none":
            dense /= self.durations.channels["shard"].ranks
            experts /= self.durations.channels["expert_data"].ranks
        width = widths(self.inputs.model, self.inputs.stack, self.inputs.training)
        # Gradients are read for their norm and for the update, states read and written, weights written.
        nbytes = (dense + experts) * (2 * width.gradients + 2 * width.optimizer + width.weights)
        seconds = optimizer.time(self.durations.gpu, nbytes)
        return Piece(seconds, {"optimizer": seconds})

    def _tail(self, parts: tuple[Chunk, ...], stage: int) -> Piece:
        """The all-reduce of tied embeddings between first and last stage, and host work once a step."""
        inputs, host = self.inputs, self.inputs.stack.cpu_step
        tied = 0.0
        ends_here = [part for part in parts if part.stage == stage and (part.embedding or part.head)]
        if inputs.model.tied and inputs.parallelism.pipeline > 1 and ends_here:
            table = self._table()
            pair = replace(self.durations.channels["pipeline"], ranks=2)
            wire = WIDTH[inputs.stack.gradient_reduce]
            tied = collectives.time("all_reduce", table * wire, pair, self.durations.algorithm)
        return Piece(tied + host, {"data": tied, "other": host})

    def carried(self) -> tuple[Carried, ...]:
        """Return what a group of each axis sends in a step, the mean over the stages."""
        sums: dict[str, float] = {}
        microbatches, stages = self.inputs.microbatches, self.inputs.parallelism.pipeline
        for program, count in self._programs():
            for operation in program:
                if isinstance(operation.work, Exchange):
                    axis = operation.work.axis
                    sent = operation.share * count * microbatches * self._wire(operation.work)
                    sums[axis] = sums.get(axis, 0.0) + sent
        work = self.step()
        for part in work.chunks:
            rounds = microbatches if work.reduce_each_round else 1
            sums["shard"] = sums.get("shard", 0.0) + part.gather.nbytes + rounds * part.reduce.nbytes
        boundaries = len(work.chunks) - 1 if stages > 1 else 0
        sums["pipeline"] = 2 * boundaries * microbatches * work.send.nbytes
        return tuple(
            Carried(self.durations.channels[axis], nbytes / stages, "exchange" if axis == "expert" else "ring")
            for axis, nbytes in sums.items()
            if nbytes > 0 and self.durations.channels[axis].ranks > 1
        )

    def _programs(self) -> Iterator[tuple[Program, int]]:
        """Return every program of a microbatch and how often a replica runs it."""
        model = self.inputs.model
        for shape, count in Counter(self.shape_of(index) for index in range(model.layers)).items():
            for program in (layer.forward(shape), layer.backward(shape), layer.recomputed(shape)):
                yield program, count
        for program in (
            ends.embedding_forward(self.shape),
            ends.embedding_backward(self.shape),
            ends.head_forward(self.shape),
            ends.head_backward(self.shape),
        ):
            yield program, 1

    def _wire(self, exchange: Exchange) -> float:
        channel = self.durations.channels[exchange.axis]
        return collectives.wire_bytes(exchange.operation, exchange.nbytes, channel, self.durations.algorithm)

    def _table(self) -> float:
        return embedding_on_rank(self.inputs.model, tensor=self.inputs.parallelism.tensor)["token_embedding"]


def attention_kernel(stack: Stack, gpu: Gpu) -> str:
    """Return the attention kernel that a stack runs on a GPU: its own, or the GPU's best where that was never written."""
    if stack.attention == "unfused":
        return "eager" if stack.softmax == "eager" else "unfused"
    return stack.attention if stack.attention in gpu.kernels.attention else attention.newest(gpu)


@dataclass(frozen=True)
class Unit:
    """Something that a chunk holds `count` times: a layer, the embedding, the head; weights as held by a rank."""

    forward: Piece
    backward: Piece
    input_gradient: Piece
    weight_gradient: Piece
    count: int = 1
    dense: float = 0.0
    experts: float = 0.0


class LayerPieces:
    """The pieces of one kind of layer: the longer of what the GPU and what the host needs."""

    def __init__(self, assembly: Assembly, shape: Shape) -> None:
        host = assembly.host_seconds(shape.experts)
        again = layer.recomputed(shape)
        back = layer.backward(shape)
        weight, rest = _split(back)
        weight_share = 1 / 3
        self.forward = piece(assembly.played(layer.forward(shape)), host)
        self.backward = piece(assembly.played(back), BACKWARD_LAUNCHES * host)
        self.recompute = piece(assembly.played(again), host if shape.training.recompute.kind == "full" else 0.0)
        self.weight_gradient = piece(assembly.played(weight), BACKWARD_LAUNCHES * host * weight_share)
        self.input_gradient = piece(assembly.played(rest), BACKWARD_LAUNCHES * host * (1 - weight_share))


def piece(played: Play, host: Seconds = 0.0) -> Piece:
    """Return a play as a piece; what the host takes longer than the GPU is `other`."""
    parts = dict(played.parts)
    if host > played.seconds and played.seconds > 0:
        parts["other"] = parts.get("other", 0.0) + host - played.seconds
        return Piece(host, parts)
    return Piece(played.seconds, parts)


def _split(program: Program) -> tuple[Program, Program]:
    """Return the weight gradients of a backward, and the rest, each as a program of its own."""
    weight = tuple(replace(op, waits=()) for op in program if op.weight_gradient)
    kept = [index for index, op in enumerate(program) if not op.weight_gradient]
    renumbered = {old: new for new, old in enumerate(kept)}
    carried: tuple[int, ...] = ()
    rest = []
    for operation in program:
        if operation.weight_gradient:
            carried += operation.waits
            continue
        waits = tuple(renumbered[position] for position in (*operation.waits, *carried) if position in renumbered)
        carried = ()
        rest.append(replace(operation, waits=waits))
    return weight, tuple(rest)


def _join(first: Transfer, second: Transfer) -> Transfer:
    """Return two transfers one after the other."""
    seconds = first.seconds + second.seconds
    load = (first.load * first.seconds + second.load * second.seconds) / seconds if seconds else 0.0
    return Transfer(seconds, first.nbytes + second.nbytes, first.scale_out or second.scale_out, load)


def as_transfer(seconds: Seconds, exchange: Exchange, channel: Channel, algorithm: str) -> Transfer:
    """Return how an exchange loads the scale-out links of one GPU."""
    if channel.hosts <= 1 or seconds <= 0:
        return Transfer(seconds)
    nbytes = collectives.wire_bytes(exchange.operation, exchange.nbytes, channel, algorithm)
    bandwidth = channel.scale_out_bandwidth / channel.ranks_per_host
    return Transfer(seconds, nbytes, True, min(1.0, nbytes / seconds / bandwidth))


@lru_cache(maxsize=64)
def network_of(cluster: Cluster) -> Network:
    """Return the network of a cluster; layouts of one cluster share it."""
    return Network(cluster.host, cluster.hosts, cluster.topology, cluster.placement, cluster.faults)


def assembly(scenario: Scenario) -> Assembly:
    """Return the assembly of a scenario's step."""
    assert scenario.model is not None
    assert scenario.parallelism is not None
    network = network_of(scenario.cluster)
    channels = {
        name: network.channel(axis.size, axis.stride)
        for name, axis in axes(scenario.parallelism, scenario.data).items()
    }
    inputs = Inputs(
        scenario.model,
        scenario.stack,
        scenario.parallelism,
        scenario.training,
        scenario.data,
        scenario.microbatches,
        scenario.moe.imbalance,
    )
    return Assembly(
        inputs, Durations(scenario.cluster.host.gpu, scenario.stack, channels, scenario.cluster.collectives)
    )
