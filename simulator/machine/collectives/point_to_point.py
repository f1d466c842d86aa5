"""Point to point: one rank sends a buffer to its neighbour over one link."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from simulator.machine.channel import Channel
from simulator.machine.collectives.base import Collective, Operation
from simulator.units import Bytes, Seconds


@dataclass(frozen=True, kw_only=True)
class PointToPoint(Collective):
    kind: ClassVar[str] = "point-to-point"
    operations: ClassVar[tuple[Operation, ...]] = ("send",)

    def steps(self, operation: Operation, channel: Channel) -> int:
        return 1

    def wire_bytes(self, operation: Operation, nbytes: Bytes, channel: Channel) -> Bytes:
        return nbytes

    def time(self, operation: Operation, nbytes: Bytes, channel: Channel) -> Seconds:
        if channel.inside_host:
            return 13e-6 + nbytes / (channel.scale_up_bandwidth * 0.85)
        return 20e-6 + channel.latency + nbytes / (channel.scale_out_bandwidth * 0.85)
