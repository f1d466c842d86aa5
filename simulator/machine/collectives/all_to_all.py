"""All-to-all: every rank sends a different part to every other rank, directly.

Of each rank's buffer (g-1)/n goes to ranks of its own host over NVLink and (n-g)/n through its NIC share, both at
once. A message to each remote rank costs the host NCCL's network overhead.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from simulator.machine.channel import Channel
from simulator.machine.collectives import domain, nccl
from simulator.machine.collectives.base import Collective, Operation, Plan
from simulator.machine.collectives.links import shared
from simulator.machine.collectives.rates import exchange_rate, fill, hop, links, step
from simulator.units import Bytes, Count, Number


class Sent(NamedTuple):
    """What an exchange sends, by byte of the buffer of one rank."""

    up: Number
    """Over the scale-up links of a GPU."""
    out: Number
    """Out of a domain, by all ranks of the group there together."""
    peers: Count
    """Ranks of other domains that a rank sends to."""


def to_everyone(channel: Channel) -> Sent:
    """Return what ranks send that have a part for every other rank, and send it there."""
    width, ranks = channel.ranks_per_host, channel.ranks
    remote = 0 if channel.inside_host else max(0, ranks - width)
    return Sent((width - 1) / ranks, width * remote / ranks, remote)


def plan(channel: Channel, sent: Sent) -> Plan:
    """Return the time of an exchange that sends this over each level at once, as a function of the buffer's size."""
    constants = links(channel)
    rate = (channel.scale_up_exchange or channel.scale_up_bandwidth) * channel.scale_up_factor
    if constants.shape in ("mesh", "cube-mesh"):
        rate = constants.usable(channel.ranks_per_host, rate, channel.scale_up_pair)
    per_byte = sent.up / (rate * constants.all_to_all) if sent.up else 0.0
    if channel.sides and channel.scale_up_pair:
        crossing = max(side.exchanged for side in channel.sides)
        per_byte = crossing * channel.ranks_per_host / channel.ranks / (channel.scale_up_pair * constants.ring)
    latency = nccl.base("Ring", "Simple") + step(channel, "Ring", "Simple")
    if not channel.inside_host:
        per_byte = max(per_byte, sent.out / (exchange_rate(channel) * shared().exchange))
        latency += nccl.step("NET", "Ring", "Simple") + hop(channel) + sent.peers * nccl.overhead("LL")
    moved = sent.out or sent.up
    return Plan(
        protocol="Simple",
        latency=latency * channel.latency_factor,
        per_byte=per_byte,
        fills=((fill(channel, moved / per_byte), per_byte),) if per_byte else (),
    )


@dataclass(frozen=True, kw_only=True)
class AllToAll(Collective):
    kind: ClassVar[str] = "all-to-all"
    operations: ClassVar[tuple[Operation, ...]] = ("all_to_all",)

    def steps(self, operation: Operation, channel: Channel) -> int:
        return channel.ranks - 1

    def up_bytes(self, operation: Operation, nbytes: Bytes, channel: Channel) -> Bytes:
        return nbytes * to_everyone(channel).up

    def out_bytes(self, operation: Operation, nbytes: Bytes, channel: Channel) -> Bytes:
        return nbytes * to_everyone(channel).out

    def plans(self, operation: Operation, channel: Channel) -> tuple[Plan, ...]:
        if (inside := domain.measured(channel)) is not None:
            return domain.exchange(channel, inside)
        return (plan(channel, to_everyone(channel)),)
