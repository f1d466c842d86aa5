"""In-network reduction (CollNet, InfiniBand SHARP): switches add; each NIC sends its part up once and gets the sum.

R. Graham et al., "Scalable Hierarchical Aggregation Protocol (SHARP)", COMHPC 2016. Half of a ring's bytes on the
NICs. Needs SHARP on every switch, so that only a pinned scenario gets it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from simulator.machine.channel import Channel
from simulator.machine.collectives import nccl
from simulator.machine.collectives.base import Collective, Operation, Plan
from simulator.machine.collectives.nvls import inside_per_byte, worthwhile
from simulator.machine.collectives.rates import fill, hop, out_rate, ring_rate
from simulator.units import Bytes


@dataclass(frozen=True, kw_only=True)
class InNetwork(Collective):
    kind: ClassVar[str] = "in-network"
    operations: ClassVar[tuple[Operation, ...]] = ("all_reduce",)
    automatic: ClassVar[bool] = False

    def supports(self, operation: Operation, channel: Channel) -> bool:
        return operation in self.operations and channel.hosts > 1 and channel.network == "infiniband"

    def steps(self, operation: Operation, channel: Channel) -> int:
        return 4

    def up_bytes(self, operation: Operation, nbytes: Bytes, channel: Channel) -> Bytes:
        inside = channel.ranks_per_host
        if inside == 1:
            return 0.0
        return nbytes * ((inside + 1) if worthwhile(channel) else 2 * (inside - 1)) / inside

    def out_bytes(self, operation: Operation, nbytes: Bytes, channel: Channel) -> Bytes:
        return nbytes

    def plans(self, operation: Operation, channel: Channel) -> tuple[Plan, ...]:
        inside = 0.0
        if channel.ranks_per_host > 1:
            moved = self.up_bytes(operation, 1.0, channel)
            inside = inside_per_byte(channel) if worthwhile(channel) else moved / ring_rate(channel)
        per_byte = max(inside, 1 / out_rate(channel))
        latency = 2 * nccl.step("NVLINK", "CollNetDirect", "Simple")
        latency += nccl.step("NET", "CollNetDirect", "Simple") + 2 * hop(channel)
        return (
            Plan(
                protocol="Simple",
                latency=latency * channel.latency_factor,
                per_byte=per_byte,
                fills=((fill(channel, 1 / per_byte), per_byte),),
            ),
        )
