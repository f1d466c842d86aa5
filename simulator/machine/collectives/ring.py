"""Ring: every rank passes its part to the next one; optimal bytes, latency linear in the ranks.

All-reduce sends 2(n-1)/n of the buffer in 2(n-1) steps, all-gather and reduce-scatter half of both
(Patarasuk and Yuan, J. Parallel Distrib. Comput. 69, 2009).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from simulator.machine.channel import Channel
from simulator.machine.collectives.base import Collective, Operation, bus_factor
from simulator.units import Bytes, Seconds


@dataclass(frozen=True, kw_only=True)
class Ring(Collective):
    kind: ClassVar[str] = "ring"
    operations: ClassVar[tuple[Operation, ...]] = ("all_reduce", "all_gather", "reduce_scatter", "broadcast")

    def steps(self, operation: Operation, channel: Channel) -> int:
        return (channel.ranks - 1) * (2 if operation == "all_reduce" else 1)

    def wire_bytes(self, operation: Operation, nbytes: Bytes, channel: Channel) -> Bytes:
        return nbytes * bus_factor(operation, channel.ranks)

    def time(self, operation: Operation, nbytes: Bytes, channel: Channel) -> Seconds:
        rate = channel.scale_up_bandwidth * 0.8
        if channel.hosts > 1:
            rate = (
                min(rate, channel.scale_out_bandwidth * 0.965)
                if channel.ranks_per_host > 1
                else (channel.scale_out_bandwidth * 0.965)
            )
        return 20e-6 + self.wire_bytes(operation, nbytes, channel) / rate
