"""Torus rings: a ring along each side of the box that a group fills, both ways at once, each with part of the buffer.

N. Jouppi et al., "TPU v4", ISCA 2023; P. Sack and W. Gropp, "Collective algorithms for multiported torus networks", ACM
Trans. Parallel Comput. 1, 2015. A side that closes gives two links of a chip, 2(N-1)/N of the buffer over their sum; a
side that does not is a line, which takes twice as long. Latency is a hop from chip to chip, the longest way.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from simulator.machine.channel import Channel
from simulator.machine.collectives import nccl
from simulator.machine.collectives.base import Collective, Operation, Plan, bus_factor
from simulator.machine.collectives.rates import links, ring_rate, step
from simulator.units import Bytes


@dataclass(frozen=True, kw_only=True)
class TorusRing(Collective):
    kind: ClassVar[str] = "torus-ring"
    operations: ClassVar[tuple[Operation, ...]] = ("all_reduce", "all_gather", "reduce_scatter", "broadcast")

    def supports(self, operation: Operation, channel: Channel) -> bool:
        return operation in self.operations and channel.inside_host and links(channel).shape == "torus"

    def steps(self, operation: Operation, channel: Channel) -> int:
        once = sum(side.hops for side in channel.sides)
        return max(1, once) * (2 if operation == "all_reduce" else 1)

    def up_bytes(self, operation: Operation, nbytes: Bytes, channel: Channel) -> Bytes:
        return nbytes * bus_factor(operation, channel.ranks)

    def out_bytes(self, operation: Operation, nbytes: Bytes, channel: Channel) -> Bytes:
        return 0.0

    def plans(self, operation: Operation, channel: Channel) -> tuple[Plan, ...]:
        latency = nccl.base("Ring", "LL") + self.steps(operation, channel) * step(channel, "Ring", "LL")
        per_byte = bus_factor(operation, channel.ranks) / ring_rate(channel)
        return (Plan(protocol="Simple", latency=latency * channel.latency_factor, per_byte=per_byte),)
