"""All-to-all: every rank sends a different part to every other rank, directly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from simulator.machine.channel import Channel
from simulator.machine.collectives.base import Collective, Operation
from simulator.units import Bytes, Seconds


@dataclass(frozen=True, kw_only=True)
class AllToAll(Collective):
    kind: ClassVar[str] = "all-to-all"
    operations: ClassVar[tuple[Operation, ...]] = ("all_to_all",)

    def steps(self, operation: Operation, channel: Channel) -> int:
        return channel.ranks - 1

    def wire_bytes(self, operation: Operation, nbytes: Bytes, channel: Channel) -> Bytes:
        return nbytes * (channel.ranks - 1) / channel.ranks

    def time(self, operation: Operation, nbytes: Bytes, channel: Channel) -> Seconds:
        n, inside = channel.ranks, channel.ranks_per_host
        up = nbytes * (inside - 1) / n / (channel.scale_up_bandwidth * 0.71)
        out = 0.0 if channel.inside_host else nbytes * (n - inside) / n * inside / (channel.exchange_bandwidth * 0.9)
        return 20e-6 + max(up, out)
