"""Point to point: one rank sends a buffer to its neighbour, over one link or through its own NIC share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from simulator.machine.channel import Channel
from simulator.machine.collectives import nccl
from simulator.machine.collectives.base import Collective, Operation, Plan
from simulator.machine.collectives.links import shared
from simulator.machine.collectives.rates import hop, links, out_rate, step
from simulator.units import Bytes


@dataclass(frozen=True, kw_only=True)
class PointToPoint(Collective):
    kind: ClassVar[str] = "point-to-point"
    operations: ClassVar[tuple[Operation, ...]] = ("send",)

    def steps(self, operation: Operation, channel: Channel) -> int:
        return 1

    def up_bytes(self, operation: Operation, nbytes: Bytes, channel: Channel) -> Bytes:
        return nbytes if channel.inside_host else 0.0

    def out_bytes(self, operation: Operation, nbytes: Bytes, channel: Channel) -> Bytes:
        return 0.0 if channel.inside_host else nbytes * channel.ranks_per_host

    def plans(self, operation: Operation, channel: Channel) -> tuple[Plan, ...]:
        constants = links(channel)
        latency = nccl.base("Ring", "Simple")
        if channel.inside_host:
            latency += step(channel, "Ring", "Simple")
            link = channel.scale_up_pair or channel.scale_up_bandwidth
            rate = link * constants.peer * channel.scale_up_factor
        else:
            latency += nccl.step("NET", "Ring", "Simple") + hop(channel)
            rate = out_rate(channel) / channel.ranks_per_host * shared().send
        return (Plan(protocol="Simple", latency=latency * channel.latency_factor, per_byte=1 / rate),)
