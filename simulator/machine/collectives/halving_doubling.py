"""Recursive halving and doubling: 2 log2(n) steps, the bytes of a ring.

R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of Collective Communication Operations in MPICH", 2005. Partners
inside a host come first, so that hosts exchange 1/g of the buffer. Powers of two only.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log2
from typing import ClassVar

from simulator.machine.channel import Channel
from simulator.machine.collectives import nccl
from simulator.machine.collectives.base import Collective, Operation, Plan, bus_factor
from simulator.machine.collectives.rates import hop, out_rate, ring_rate, step
from simulator.units import Bytes


@dataclass(frozen=True, kw_only=True)
class HalvingDoubling(Collective):
    kind: ClassVar[str] = "halving-doubling"
    operations: ClassVar[tuple[Operation, ...]] = ("all_reduce", "all_gather", "reduce_scatter")
    automatic: ClassVar[bool] = False

    def supports(self, operation: Operation, channel: Channel) -> bool:
        even = channel.ranks == channel.hosts * channel.ranks_per_host
        return operation in self.operations and channel.ranks & (channel.ranks - 1) == 0 and even

    def steps(self, operation: Operation, channel: Channel) -> int:
        return (2 if operation == "all_reduce" else 1) * int(log2(channel.ranks))

    def up_bytes(self, operation: Operation, nbytes: Bytes, channel: Channel) -> Bytes:
        return nbytes * bus_factor(operation, channel.ranks_per_host)

    def out_bytes(self, operation: Operation, nbytes: Bytes, channel: Channel) -> Bytes:
        return nbytes * bus_factor(operation, channel.hosts)

    def plans(self, operation: Operation, channel: Channel) -> tuple[Plan, ...]:
        twice = 2 if operation == "all_reduce" else 1
        inside, between = int(log2(channel.ranks_per_host)), int(log2(channel.hosts))
        latency = nccl.base("Ring", "Simple") + twice * (
            inside * step(channel, "Ring", "Simple") + between * (nccl.step("NET", "Ring", "Simple") + hop(channel))
        )
        per_byte = self.up_bytes(operation, 1.0, channel) / ring_rate(channel)
        if channel.hosts > 1:
            per_byte += self.out_bytes(operation, 1.0, channel) / out_rate(channel)
        return (Plan(protocol="Simple", latency=latency * channel.latency_factor, per_byte=per_byte),)
