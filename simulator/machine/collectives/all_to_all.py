"""All-to-all: every rank sends a different part to every other rank, directly.

Of each rank's buffer (g-1)/n goes to ranks of its own host over NVLink and (n-g)/n through its NIC share, both at
once. A message to each remote rank costs the host NCCL's network overhead.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from simulator.machine.channel import Channel
from simulator.machine.collectives import nccl
from simulator.machine.collectives.base import Collective, Operation, Plan
from simulator.machine.collectives.links import shared
from simulator.machine.collectives.rates import exchange_rate, fill, hop, links, step
from simulator.units import Bytes


@dataclass(frozen=True, kw_only=True)
class AllToAll(Collective):
    kind: ClassVar[str] = "all-to-all"
    operations: ClassVar[tuple[Operation, ...]] = ("all_to_all",)

    def steps(self, operation: Operation, channel: Channel) -> int:
        return channel.ranks - 1

    def up_bytes(self, operation: Operation, nbytes: Bytes, channel: Channel) -> Bytes:
        return nbytes * (channel.ranks_per_host - 1) / channel.ranks

    def out_bytes(self, operation: Operation, nbytes: Bytes, channel: Channel) -> Bytes:
        remote = max(0, channel.ranks - channel.ranks_per_host)
        return 0.0 if channel.inside_host else nbytes * channel.ranks_per_host * remote / channel.ranks

    def plans(self, operation: Operation, channel: Channel) -> tuple[Plan, ...]:
        constants = links(channel)
        rate = (channel.scale_up_exchange or channel.scale_up_bandwidth) * channel.scale_up_factor
        if constants.shape in ("mesh", "cube-mesh"):
            rate = constants.usable(channel.ranks_per_host, rate, channel.scale_up_pair)
        inside = self.up_bytes(operation, 1.0, channel)
        per_byte = inside / (rate * constants.all_to_all) if inside else 0.0
        latency = nccl.base("Ring", "Simple") + step(channel, "Ring", "Simple")
        if not channel.inside_host:
            out = exchange_rate(channel) * shared().exchange
            per_byte = max(per_byte, self.out_bytes(operation, 1.0, channel) / out)
            latency += nccl.step("NET", "Ring", "Simple") + hop(channel)
            latency += (channel.ranks - channel.ranks_per_host) * nccl.overhead("LL")
        if per_byte == 0.0:
            return (Plan(protocol="Simple", latency=latency * channel.latency_factor, per_byte=0.0),)
        moved = self.out_bytes(operation, 1.0, channel) or self.up_bytes(operation, 1.0, channel)
        return (
            Plan(
                protocol="Simple",
                latency=latency * channel.latency_factor,
                per_byte=per_byte,
                fills=((fill(channel, moved / per_byte), per_byte),),
            ),
        )
