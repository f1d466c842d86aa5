"""NVLS: the NVSwitch adds and multicasts (NVLink SHARP, third generation and later).

Each GPU lets the switch read its buffer, gets the sum of its own part, hands it back for multicast and gets the
others': (n+1)/n of the buffer over each link and direction, so that bus bandwidth exceeds the ring's and grows with n
(B. Klenk et al., "An In-Network Architecture for Accelerating Shared-Memory Multiprocessor Collectives", ISCA 2020).
NCCL takes it where it expects more than of a ring: efficiency (n-1)/n > n / (2(n-1)).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from simulator.machine.channel import Channel
from simulator.machine.collectives import nccl
from simulator.machine.collectives.base import Collective, Operation, Plan, bus_factor
from simulator.machine.collectives.rates import links, ring_rate, widened
from simulator.units import Bytes


@dataclass(frozen=True, kw_only=True)
class Nvls(Collective):
    kind: ClassVar[str] = "nvls"
    since: ClassVar[int] = 2023
    operations: ClassVar[tuple[Operation, ...]] = ("all_reduce",)

    def supports(self, operation: Operation, channel: Channel) -> bool:
        return operation in self.operations and channel.inside_host and worthwhile(channel)

    def steps(self, operation: Operation, channel: Channel) -> int:
        return 2

    def up_bytes(self, operation: Operation, nbytes: Bytes, channel: Channel) -> Bytes:
        return nbytes * (channel.ranks + 1) / channel.ranks

    def out_bytes(self, operation: Operation, nbytes: Bytes, channel: Channel) -> Bytes:
        return 0.0

    def plans(self, operation: Operation, channel: Channel) -> tuple[Plan, ...]:
        per_byte = inside_per_byte(channel)
        latency = nccl.step("NVLINK", "NVLS", "Simple") * channel.latency_factor
        expected = ring_rate(channel) * nccl.nvls_efficiency(links(channel).nccl)
        return (
            Plan(
                protocol="Simple",
                latency=latency,
                per_byte=per_byte,
                fills=((in_flight(channel) * per_byte / self.up_bytes(operation, 1.0, channel), per_byte),),
                expected_latency=latency,
                expected_per_byte=channel.ranks / (channel.ranks - 1) / expected,
            ),
        )


def in_flight(channel: Channel) -> Bytes:
    """Return the bytes under way before the switch runs at its rate."""
    inside = links(channel).inside
    return widened(inside.multicast_fill if inside else links(channel).fill, channel)


def worthwhile(channel: Channel) -> bool:
    """Tell whether the switch can do it and NCCL expects it to beat a ring inside the host."""
    inside = channel.ranks_per_host
    if links(channel).multicast is None or inside < 2 or channel.islands:
        return False
    return nccl.nvls_efficiency(links(channel).nccl) * (inside - 1) / inside > inside / (2 * (inside - 1))


def inside_per_byte(channel: Channel) -> float:
    """Return the seconds a byte of the buffer that the reduction and multicast inside a host take."""
    constants, inside = links(channel), channel.ranks_per_host
    assert constants.multicast is not None
    rate = channel.scale_up_bandwidth * channel.scale_up_factor
    moved = (inside + 1) / inside / (rate * constants.multicast)
    return max(moved, bus_factor("all_reduce", inside) / (rate * constants.multicast_bus))
