"""Builds the work of a step: units into chunks, chunks into stages, and what the stages send each other."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from functools import cached_property, lru_cache

from simulator.engine.prices.calibrated import gpu_of, of_kernels, of_network
from simulator.engine.prices.constants import Shared, unfitted
from simulator.engine.prices.constants import shared as shipped
from simulator.engine.prices.data_axis import DataAxis
from simulator.engine.prices.durations import Durations
from simulator.engine.prices.host_copies import HostCopies, HostSide
from simulator.engine.prices.stage_units import units_of
from simulator.engine.step.commands import Compute
from simulator.engine.step.contention import NONE
from simulator.engine.step.local_clock import alone
from simulator.engine.step.transfers import FULL, NOTHING, Transfer, joined
from simulator.engine.step.work import Chunk, StepWork, Unit
from simulator.machine import collectives
from simulator.machine.channel import Channel
from simulator.machine.hardware import HOST_LINK_EFFICIENCY
from simulator.machine.network import Network, NetworkCalibration
from simulator.scenario.cluster import Cluster
from simulator.scenario.scenario import Scenario
from simulator.units import Seconds, Share
from simulator.workload.layers import blocks_of
from simulator.workload.layout import Chunk as Part
from simulator.workload.layout import axes
from simulator.workload.operations import Exchange
from simulator.workload.parameters import Parameters, table_on_rank, weight_tensors
from simulator.workload.rank_matrices import matrices_on_rank
from simulator.workload.replica import Content, Replica, content, parameters_on_rank
from simulator.workload.stack import WIDTH


class Assembly:
    def __init__(self, replica: Replica, durations: Durations, host: HostSide) -> None:
        self.replica = replica
        self.rank = replica.rank
        self.durations = durations
        splits = replica.schedule.splits
        self.units = units_of(self.rank.inside, replica.recompute, durations.of_layers(), splits)
        self.data = DataAxis(self.rank, durations)
        self.copies = HostCopies(replica, durations, host)
        self.chunks = replica.chunks
        self.contents = {part: content(self.rank, part) for part in self.chunks}
        # Layouts that do the same in a layer share what chunks hold, unless copies to the host are beside it.
        self._held = {} if self.copies.priced else self.units.held
        self._works: dict[tuple[Content, bool], Chunk] = {}

    def step(self) -> StepWork:
        stack, stages = self.rank.stack, self.rank.pipeline
        chunks, send = tuple(self.chunk(part) for part in self.chunks), self._send()
        return StepWork(
            schedule=self.replica.schedule,
            stages=stages,
            microbatches=self.replica.microbatches,
            chunks=chunks,
            send=send,
            blocking_send=not stack.overlap_pipeline,
            overlap_reduce=stack.overlap_gradient_reduce,
            reduce_each_round=self.rank.keeps_gradient_shard and not self.rank.layer_by_layer,
            overlap_gather=stack.overlap_parameter_gather,
            pairs=self.rank.pairs_microbatches,
            optimizer=self._optimizer(),
            end=tuple(map(self._end, range(stages))),
        )

    def held(self, part: Part) -> tuple[Unit, ...]:
        """Return the units of a chunk in the order of the model."""
        key = self.contents[part], self._recomputed_share(part), self._ends_meet
        if key not in self._held:
            self._held[key] = tuple(self._units(*key))
        return self._held[key]

    @cached_property
    def _ends_meet(self) -> bool:
        """Whether embedding and head are on one stage, which then needs no copy of a tied table."""
        return {part.stage for part in self.chunks if part.embedding} == {
            part.stage for part in self.chunks if part.head
        }

    def _units(self, holds: Content, recomputed: Share, ends_meet: bool) -> Iterator[Unit]:
        units, copies = self.units, self.copies
        if holds.embedding:
            yield copies.beside(units.embedding)
        for blocks, count in holds.layers:
            layers = replace(units.layer(blocks, recomputed), count=count)
            yield copies.beside(layers, copies.kept(blocks, recomputed))
        if holds.head:
            if module := units.mtp():
                model = self.rank.model
                yield copies.beside(module, copies.kept(blocks_of(model, model.layers)))
            yield copies.beside(units.head(beside_embedding=ends_meet))

    def _recomputed_share(self, part: Part) -> float:
        """Return the share of a chunk's layers that are recomputed, where the scenario gives a number a stage."""
        layers = self.replica.recompute.layers
        if layers is None or not part.layers:
            return 1.0
        return min(1.0, layers / self.replica.schedule.chunks_per_stage / part.layers)

    def chunk(self, part: Part) -> Chunk:
        key = self.contents[part], part.chunk == 0
        if key not in self._works:
            self._works[key] = self._work(part, self.held(part))
        return self._works[key]

    def _work(self, part: Part, held: tuple[Unit, ...]) -> Chunk:
        stack = self.rank.stack
        host = stack.cpu_microbatch if part.chunk == 0 and "host" not in self.durations.without else 0.0
        if self.data.sharded:
            units = tuple(map(self.data.gathered, held))
            return Chunk(units=units, prefetch=stack.prefetch, launch=host)
        tensors = weight_tensors(self.rank.model, part.first, part.last, embedding=part.embedding, head=part.head)
        whole = Chunk(units=held, launch=host)
        reduce, gather = self.data.by_layer(whole.layers, tensors)
        return replace(whole, reduce=reduce, gather=gather)

    def _send(self) -> Transfer:
        """A microbatch's activations: each tensor rank sends its part, and the receivers gather the whole over NVLink
        unless they work on parts (scatter-gather, Narayanan et al. 2021, 4.1; DeepSpeed's partitioned pipeline)."""
        rank, residual = self.rank, self.rank.gathered_bytes
        if rank.pipeline == 1:
            return NOTHING
        sent = self.data.transfer(Exchange("pipeline", "send", residual / rank.tensor))
        if rank.tensor == 1 or rank.sequence:
            return sent
        # The receiver waits for that gather, so that its links are free of other exchanges of this axis.
        gathered = self.data.transfer(Exchange("tensor", "all_gather", residual))
        return joined((sent, gathered._replace(loads=(), takes=NONE)))

    def _optimizer(self) -> tuple[tuple[Compute, ...], ...]:
        """Return the optimizer step of each stage, on the GPU or on the host."""
        backward = [0.0] * self.rank.pipeline
        for part in self.chunks:
            backward[part.stage] += alone(self.chunk(part).phases["B"]).seconds
        if "optimizer" in self.durations.without:
            return ((),) * len(backward)
        matrices = (matrices_on_rank(self.rank.inside, held) for held in self.replica.stages)
        ranks = zip(self.parameters, matrices, backward, strict=True)
        return tuple(self.copies.optimizer(held, shapes, seconds) for held, shapes, seconds in ranks)

    @cached_property
    def parameters(self) -> list[Parameters]:
        """Parameters of each stage on one rank."""
        return [parameters_on_rank(self.rank, held) for held in self.replica.stages]

    def _end(self, stage: int) -> tuple[Compute, ...]:
        """What a stage does once a step, hidden by nothing: a tied embedding at either end, and host work."""
        host = 0.0 if "host" in self.durations.without else self.rank.stack.cpu_step
        at_an_end = any(part.stage == stage and (part.embedding or part.head) for part in self.chunks)
        tied = self._tied if at_an_end else 0.0
        return Compute(tied, "data", "tied embedding"), Compute(host, "other", "host")

    @cached_property
    def _tied(self) -> Seconds:
        """The all-reduce of tied embeddings between first and last stage."""
        learns = self.rank.tuning.end("embedding") == "whole"
        if not self.rank.model.tied or not learns or self._ends_meet or "data" in self.durations.without:
            return 0.0
        pair = replace(self.durations.channels["pipeline"], ranks=2)
        return collectives.time(
            "all_reduce",
            table_on_rank(self.rank.inside) * WIDTH[self.rank.stack.gradient_reduce],
            pair,
            self.durations.algorithm,
        )


@lru_cache(maxsize=64)
def network_of(cluster: Cluster, measured: NetworkCalibration | None = None) -> Network:
    """Return the network of a cluster; layouts of one cluster share it."""
    return Network(cluster.host, cluster.hosts, cluster.topology, cluster.placement, cluster.faults, measured)


def assembly(scenario: Scenario, learned: Shared | None = None, without: Collection[str] = ()) -> Assembly:
    """Return the assembly of a scenario's step with its mean microbatch; `without` names terms to switch off."""
    scenario = scenario.even
    assert scenario.parallelism is not None
    network = network_of(scenario.cluster, of_network(scenario))
    channels = {
        name: network.channel(axis.size, axis.stride)
        for name, axis in axes(scenario.parallelism, scenario.data).items()
    }
    narrow = _narrow(channels.values())
    year = scenario.stack.year
    channels = {name: replace(channel.among(narrow), year=year) for name, channel in channels.items()}
    durations = Durations(
        gpu_of(scenario),
        scenario.stack,
        channels,
        scenario.cluster.collectives,
        shared=of_kernels(unfitted() if "fitted" in without else learned or shipped(), scenario),
        without=_axes(without),
    )
    return Assembly(scenario.replica, durations, host_side(scenario))


def _narrow(channels: Iterable[Channel]) -> set[str]:
    """Return NICs, and the links above them that some axis makes fuller than these; others never hold up anybody."""
    found = {"nic"}
    for channel in channels:
        for tiers in (channel.tiers, channel.exchange_tiers):
            nics = dict(tiers).get("nic", 0.0)
            found |= {tier for tier, share in tiers if share > FULL * nics}
    return found


def host_side(scenario: Scenario) -> HostSide:
    """Return what a host of the cluster gives each of its GPUs."""
    host = scenario.cluster.host
    link = host.host_link or host.gpu.host_link
    return HostSide(HOST_LINK_EFFICIENCY * link, host.memory_bandwidth / scenario.gpus_per_host)


def _axes(terms: Collection[str]) -> set[str]:
    """Return the terms, with every axis that the data term stands for."""
    more = {"shard", "replicate", "expert_data", "expert_replicate"} if "data" in terms else set()
    more |= {"context_heads", "context_tokens"} if "context" in terms else set()
    return {*terms, *more, *({"expert_tensor"} if "expert" in terms else ())}
