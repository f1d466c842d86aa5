"""Builds the work of a step: units into chunks, chunks into stages, and what the stages send each other."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from functools import cached_property, lru_cache

from simulator.engine.calibrated import of_kernels, of_network
from simulator.engine.contents import Content, content, kinds_of
from simulator.engine.data_axis import DataAxis, join
from simulator.engine.durations import Durations
from simulator.engine.host_copies import HostCopies
from simulator.engine.inputs import HostSide, Inputs, Shared, shared, unfitted
from simulator.engine.stage_units import Held, Unit, attention_kernel, units_of
from simulator.engine.work import ChunkWork, Piece, StepWork, Transfer
from simulator.machine import collectives
from simulator.machine.hardware import HOST_LINK_EFFICIENCY, Gpu
from simulator.machine.network import Network, NetworkCalibration
from simulator.scenario.cluster import Cluster
from simulator.scenario.scenario import Scenario
from simulator.units import Seconds, Share
from simulator.workload.layout import Chunk, axes, chunks
from simulator.workload.operations import Exchange
from simulator.workload.parameters import embedding_on_rank, weight_tensors
from simulator.workload.shape import Shape, squares
from simulator.workload.states import WIDTH


class Assembly:
    def __init__(self, inputs: Inputs, durations: Durations) -> None:
        self.inputs = inputs
        self.durations = durations
        self.units = units_of(_shape(inputs, durations.gpu), durations.of_layers(), inputs.parallelism.schedule.splits)
        self.data = DataAxis(inputs, durations)
        self.copies = HostCopies(inputs, durations)
        self.chunks = chunks(inputs.model, inputs.stack, inputs.parallelism)
        self.contents = {part: content(inputs.model, part) for part in self.chunks}
        # Layouts that do the same in a layer share what chunks hold, unless copies to the host are beside it.
        self._held = {} if self.copies.priced else self.units.held
        self._works: dict[tuple[Content, bool], ChunkWork] = {}

    def step(self) -> StepWork:
        inputs, stack = self.inputs, self.inputs.stack
        stages = range(inputs.parallelism.pipeline)
        return StepWork(
            schedule=inputs.parallelism.schedule,
            stages=inputs.parallelism.pipeline,
            microbatches=inputs.microbatches,
            chunks=tuple(self.chunk(part) for part in self.chunks),
            send=self._send(),
            blocking_send=not stack.overlap_pipeline,
            overlap_reduce=stack.overlap_gradient_reduce,
            reduce_each_round=stack.reduce_each_round and self.data.level == "gradients",
            overlap_gather=stack.overlap_parameter_gather,
            communication_sms=stack.communication_sms,
            optimizer=self._optimizer(),
            end=tuple(self._end(stage) for stage in stages),
        )

    def held(self, part: Chunk) -> Held:
        """Return the units of a chunk in the order of the model."""
        key = self.contents[part], self._recomputed_share(part)
        if key not in self._held:
            self._held[key] = Held(tuple(self._units(*key)))
        return self._held[key]

    def _units(self, holds: Content, recomputed: Share) -> Iterator[Unit]:
        units, copies = self.units, self.copies
        if holds.embedding:
            yield copies.beside(units.embedding)
        for kind, count in holds.layers:
            layers = replace(units.layer(kind).recomputed(recomputed), count=count)
            yield copies.beside(layers, copies.kept(kind.experts, recomputed))
        if holds.head:
            if module := units.mtp():
                last = kinds_of(self.inputs.model)[-1]
                yield copies.beside(module, copies.kept(last.experts))
            yield copies.beside(units.head(beside_embedding=holds.embedding))

    def _recomputed_share(self, part: Chunk) -> float:
        """Return the share of a chunk's layers that are recomputed, where the scenario gives a number a stage."""
        recompute = self.inputs.training.recompute
        if recompute.layers is None or not part.layers:
            return 1.0
        return min(1.0, recompute.layers / self.inputs.parallelism.schedule.chunks_per_stage / part.layers)

    def chunk(self, part: Chunk) -> ChunkWork:
        key = self.contents[part], part.chunk == 0
        if key not in self._works:
            self._works[key] = self._work(part, self.held(part))
        return self._works[key]

    def _work(self, part: Chunk, held: Held) -> ChunkWork:
        if self.data.sharded:
            whole, reduce, gather = self.data.gathered(held.units), Transfer(), Transfer()
        else:
            whole = dict(held.pieces)
            tensors = weight_tensors(self.inputs.model, part.first, part.last, embedding=part.embedding, head=part.head)
            reduce, gather = self.data.transfers(*held.weights, tensors)
        host = self.inputs.stack.cpu_microbatch
        if host and part.chunk == 0 and "host" not in self.durations.without:
            whole["forward"] += Piece(host, {"other": host})
        return ChunkWork(layers=max(part.layers, 1), reduce=reduce, gather=gather, **whole)

    def _send(self) -> Transfer:
        """A microbatch's activations: each tensor rank sends its part, and the receivers gather the whole over NVLink
        unless they work on parts (scatter-gather, Narayanan et al. 2021, 4.1; DeepSpeed's partitioned pipeline)."""
        parallelism, residual = self.inputs.parallelism, self.units.shape.residual_bytes
        if parallelism.pipeline == 1:
            return Transfer()
        sent = self.data.transfer(Exchange("pipeline", "send", residual / parallelism.tensor))
        if parallelism.tensor == 1 or parallelism.sequence:
            return sent
        return join(sent, self.data.transfer(Exchange("tensor", "all_gather", residual)))

    def _optimizer(self) -> tuple[Piece, ...]:
        """Return the optimizer step of each stage, on the GPU or on the host."""
        dense, experts, backward = ([0.0] * self.inputs.parallelism.pipeline for _ in range(3))
        for part in self.chunks:
            more_dense, more_experts = self.held(part).weights
            dense[part.stage] += more_dense
            experts[part.stage] += more_experts
            backward[part.stage] += self.chunk(part).backward.seconds
        if "optimizer" in self.durations.without:
            return (Piece(0.0, {"optimizer": 0.0}),) * len(dense)
        return tuple(map(self.copies.optimizer, dense, experts, backward))

    def _end(self, stage: int) -> Piece:
        """What a stage does once a step, hidden by nothing: a tied embedding at either end, and host work."""
        host = 0.0 if "host" in self.durations.without else self.inputs.stack.cpu_step
        at_an_end = any(part.stage == stage and (part.embedding or part.head) for part in self.chunks)
        tied = self._tied if at_an_end else 0.0
        return Piece(tied + host, {"data": tied, "other": host})

    @cached_property
    def _tied(self) -> Seconds:
        """The all-reduce of tied embeddings between first and last stage."""
        inputs = self.inputs
        if not inputs.model.tied or inputs.parallelism.pipeline == 1 or "data" in self.durations.without:
            return 0.0
        table = embedding_on_rank(inputs.model, tensor=inputs.parallelism.tensor)["token_embedding"]
        pair = replace(self.durations.channels["pipeline"], ranks=2)
        return collectives.time(
            "all_reduce", table * WIDTH[inputs.stack.gradient_reduce], pair, self.durations.algorithm
        )


def _shape(inputs: Inputs, gpu: Gpu) -> Shape:
    """Return what the layers of a step depend on."""
    model, stack = inputs.model, inputs.stack
    kernel = attention_kernel(
        stack, gpu, sinks=model.sinks, squares=squares(model, inputs.parallelism, inputs.training)
    )
    imbalance, capacity = inputs.imbalance, inputs.capacity
    return Shape.of(model, stack, inputs.parallelism, inputs.training, kernel, imbalance=imbalance, capacity=capacity)


@lru_cache(maxsize=64)
def network_of(cluster: Cluster, measured: NetworkCalibration | None = None) -> Network:
    """Return the network of a cluster; layouts of one cluster share it."""
    return Network(cluster.host, cluster.hosts, cluster.topology, cluster.placement, cluster.faults, measured)


def assembly(scenario: Scenario, learned: Shared | None = None, without: Collection[str] = ()) -> Assembly:
    """Return the assembly of a scenario's step; `without` names terms of the physics to switch off."""
    assert scenario.model is not None
    assert scenario.parallelism is not None
    network = network_of(scenario.cluster, of_network(scenario))
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
        scenario.moe.capacity,
        host_side(scenario),
    )
    durations = Durations(
        scenario.cluster.host.gpu,
        scenario.stack,
        channels,
        scenario.cluster.collectives,
        shared=of_kernels(unfitted() if "fitted" in without else learned or shared(), scenario),
        without=_axes(without),
    )
    return Assembly(inputs, durations)


def host_side(scenario: Scenario) -> HostSide:
    """Return what a host of the cluster gives each of its GPUs."""
    host = scenario.cluster.host
    link = host.host_link or host.gpu.host_link
    return HostSide(HOST_LINK_EFFICIENCY * link, host.memory_bandwidth / scenario.gpus_per_host)


def _axes(terms: Collection[str]) -> set[str]:
    """Return the terms, with every axis that the data term stands for."""
    more = {"shard", "replicate", "expert_data"} if "data" in terms else set()
    return {*terms, *more, *({"expert_tensor"} if "expert" in terms else ())}
