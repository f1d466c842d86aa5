"""Builds the work of a step: units into chunks, chunks into stages, and what the stages send each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import replace
from functools import lru_cache

from simulator.engine.calibrated import of_kernels, of_network
from simulator.engine.data_axis import DataAxis, join
from simulator.engine.durations import Durations
from simulator.engine.host_copies import HostCopies
from simulator.engine.inputs import HostSide, Inputs, Shared, shared, unfitted
from simulator.engine.stage_units import Kind, Unit, Units, kinds_of
from simulator.engine.work import ChunkWork, Piece, StepWork, Transfer
from simulator.machine import collectives
from simulator.machine.hardware import HOST_LINK_EFFICIENCY
from simulator.machine.network import Network, NetworkCalibration
from simulator.scenario.cluster import Cluster
from simulator.scenario.scenario import Scenario
from simulator.sums import added
from simulator.workload.layout import Chunk, axes, chunks
from simulator.workload.operations import Exchange
from simulator.workload.parameters import embedding_on_rank
from simulator.workload.states import WIDTH

Content = tuple[tuple[Kind, ...], bool, bool]
"""The layers of a chunk by kind, and whether embedding and head are there too."""


class Assembly:
    def __init__(self, inputs: Inputs, durations: Durations) -> None:
        self.inputs = inputs
        self.durations = durations
        self.units = Units(inputs, durations)
        self.data = DataAxis(inputs, durations)
        self.copies = HostCopies(inputs, durations)
        self.chunks = chunks(inputs.model, inputs.stack, inputs.parallelism)
        self._held: dict[Content, list[Unit]] = {}
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

    def content(self, part: Chunk) -> Content:
        """Return what chunks have in common that hold and do the same."""
        return kinds_of(self.inputs.model)[part.first : part.last], part.embedding, part.head

    def held(self, part: Chunk) -> list[Unit]:
        """Return the units of a chunk in the order of the model."""
        content = self.content(part)
        if content not in self._held:
            self._held[content] = self._units(part)
        return self._held[content]

    def _units(self, part: Chunk) -> list[Unit]:
        kinds = Counter(kinds_of(self.inputs.model)[part.first : part.last])
        share = self._recomputed_share(part)
        units = [
            self.copies.beside(
                replace(self.units.layer(kind).recomputed(share), count=count), self.copies.kept(kind.experts, share)
            )
            for kind, count in kinds.items()
        ]
        if part.embedding:
            units.insert(0, self.copies.beside(self.units.embedding()))
        if part.head:
            module = self.units.mtp()
            last = kinds_of(self.inputs.model)[-1]
            units += [self.copies.beside(module, self.copies.kept(last.experts))] if module else []
            units.append(self.copies.beside(self.units.head(beside_embedding=part.embedding)))
        return units

    def _recomputed_share(self, part: Chunk) -> float:
        """Return the share of a chunk's layers that are recomputed, where the scenario gives a number a stage."""
        recompute = self.inputs.training.recompute
        if recompute.layers is None or not part.layers:
            return 1.0
        return min(1.0, recompute.layers / self.inputs.parallelism.schedule.chunks_per_stage / part.layers)

    def chunk(self, part: Chunk) -> ChunkWork:
        key = self.content(part), part.chunk == 0
        if key not in self._works:
            self._works[key] = self._work(part, self.held(part))
        return self._works[key]

    def _work(self, part: Chunk, units: list[Unit]) -> ChunkWork:
        pieces = ("forward", "backward", "input_gradient", "weight_gradient")
        if self.data.sharded:
            whole, reduce, gather = self.data.gathered(units), Transfer(), Transfer()
        else:
            whole = {name: sum((getattr(u, name) * u.count for u in units), Piece()) for name in pieces}
            dense, experts = weights(units)
            reduce, gather = self.data.transfers(dense, experts)
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
            more_dense, more_experts = weights(self.held(part))
            dense[part.stage] += more_dense
            experts[part.stage] += more_experts
            backward[part.stage] += self.chunk(part).backward.seconds
        if "optimizer" in self.durations.without:
            return (Piece(0.0, {"optimizer": 0.0}),) * len(dense)
        return tuple(map(self.copies.optimizer, dense, experts, backward))

    def _end(self, stage: int) -> Piece:
        """The all-reduce of tied embeddings between first and last stage, and host work once a step."""
        inputs, host = self.inputs, 0.0 if "host" in self.durations.without else self.inputs.stack.cpu_step
        tied = 0.0
        at_an_end = any(part.stage == stage and (part.embedding or part.head) for part in self.chunks)
        if inputs.model.tied and inputs.parallelism.pipeline > 1 and at_an_end and "data" not in self.durations.without:
            table = embedding_on_rank(inputs.model, tensor=inputs.parallelism.tensor)["token_embedding"]
            pair = replace(self.durations.channels["pipeline"], ranks=2)
            nbytes = table * WIDTH[inputs.stack.gradient_reduce]
            tied = collectives.time("all_reduce", nbytes, pair, self.durations.algorithm)
        return Piece(tied + host, {"data": tied, "other": host})


def weights(units: list[Unit]) -> tuple[float, float]:
    """Return the parameters of units on a rank: dense ones, and those of experts."""
    return added(unit.count * unit.dense for unit in units), added(unit.count * unit.experts for unit in units)


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
