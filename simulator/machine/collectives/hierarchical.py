"""Hierarchical: reduce-scatter inside hosts, all-reduce between them on each rail, all-gather inside hosts.

A buffer of S moves (g-1)/g S twice over the scale-up links and 2 (k-1)/k S/g through each GPU's NIC share; the share
of traffic that leaves a host is that of a ring. The three parts follow one another, as in frameworks that write
it out (H. Mikami et al., "Massively Distributed SGD", arXiv 1811.05233).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from simulator.machine.channel import Channel
from simulator.machine.collectives.base import Collective, Operation, Plan
from simulator.machine.collectives.ring import Ring
from simulator.units import Bytes


@dataclass(frozen=True, kw_only=True)
class Hierarchical(Collective):
    kind: ClassVar[str] = "hierarchical"
    operations: ClassVar[tuple[Operation, ...]] = ("all_reduce",)
    automatic: ClassVar[bool] = False

    def supports(self, operation: Operation, channel: Channel) -> bool:
        even = channel.ranks == channel.hosts * channel.ranks_per_host
        return operation in self.operations and channel.hosts > 1 and channel.ranks_per_host > 1 and even

    def steps(self, operation: Operation, channel: Channel) -> int:
        return 2 * (channel.ranks_per_host - 1) + 2 * (channel.hosts - 1)

    def up_bytes(self, operation: Operation, nbytes: Bytes, channel: Channel) -> Bytes:
        return 2 * nbytes * (channel.ranks_per_host - 1) / channel.ranks_per_host

    def out_bytes(self, operation: Operation, nbytes: Bytes, channel: Channel) -> Bytes:
        return 2 * nbytes * (channel.hosts - 1) / channel.hosts

    def plans(self, operation: Operation, channel: Channel) -> tuple[Plan, ...]:
        ring, per_host = Ring(), channel.ranks_per_host
        inside = replace(channel, ranks=per_host, hosts=1)
        rail = replace(
            channel,
            ranks=channel.hosts,
            ranks_per_host=1,
            scale_out_bandwidth=channel.scale_out_bandwidth / per_host,
        )
        scatter = ring.plans("reduce_scatter", inside)[-1]
        gather = ring.plans("all_gather", inside)[-1]
        between = ring.plans("all_reduce", rail)[-1]
        part = 1 / per_host
        return (
            Plan(
                protocol="Simple",
                latency=scatter.latency + between.latency + gather.latency,
                per_byte=scatter.per_byte + between.per_byte * part + gather.per_byte,
                fills=(
                    *scatter.fills,
                    *((most, per_byte * part) for most, per_byte in between.fills),
                    *gather.fills,
                ),
            ),
        )
