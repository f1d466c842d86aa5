"""Torus rings: a ring along each dimension, both ways at once, each with its share of the buffer.

N. Jouppi et al., "TPU v4", ISCA 2023; P. Sack and W. Gropp, "Collective algorithms for multiported torus networks", ACM
Trans. Parallel Comput. 1, 2015. All 2d links of a chip work: 2(N-1)/N of the buffer over their sum. A group that is not
a whole torus has no wrap-around links: then lines both ways, which this counts as rings. Efficiency and latency of
TPU links are unpublished.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from simulator.machine.channel import Channel
from simulator.machine.collectives import nccl
from simulator.machine.collectives.base import Collective, Operation, Plan, bus_factor
from simulator.machine.collectives.links import box
from simulator.machine.collectives.rates import links, ring_rate, step
from simulator.units import Bytes


@dataclass(frozen=True, kw_only=True)
class TorusRing(Collective):
    kind: ClassVar[str] = "torus-ring"
    operations: ClassVar[tuple[Operation, ...]] = ("all_reduce", "all_gather", "reduce_scatter", "broadcast")

    def supports(self, operation: Operation, channel: Channel) -> bool:
        return operation in self.operations and channel.inside_host and links(channel).shape == "torus"

    def steps(self, operation: Operation, channel: Channel) -> int:
        once = sum(length // 2 for length in sides(channel))
        return max(1, once) * (2 if operation == "all_reduce" else 1)

    def up_bytes(self, operation: Operation, nbytes: Bytes, channel: Channel) -> Bytes:
        return nbytes * bus_factor(operation, channel.ranks)

    def out_bytes(self, operation: Operation, nbytes: Bytes, channel: Channel) -> Bytes:
        return 0.0

    def plans(self, operation: Operation, channel: Channel) -> tuple[Plan, ...]:
        latency = nccl.base("Ring", "LL") + self.steps(operation, channel) * step(channel, "Ring", "LL")
        per_byte = bus_factor(operation, channel.ranks) / ring_rate(channel)
        return (Plan(protocol="Simple", latency=latency * channel.latency_factor, per_byte=per_byte),)


def sides(channel: Channel) -> tuple[int, ...]:
    """Return the box that the group's chips fill, in as many dimensions as a chip has pairs of links."""
    pair = channel.scale_up_pair or channel.scale_up_bandwidth
    return box(channel.ranks, max(1, round(channel.scale_up_bandwidth / pair / 2)))
