"""What a channel delivers to a collective: line rates times what the generation attains of them."""

from __future__ import annotations

import math

from simulator.machine.channel import Channel
from simulator.machine.collectives import nccl
from simulator.machine.collectives.links import ScaleOutLinks, ScaleUpLinks, fabric, network_of
from simulator.units import Bytes, BytesPerSecond, Seconds

ONE_SWITCH: Seconds = 1.6e-6
"""Fabric under NCCL's own network latencies: two NICs of 0.5 us and one switch."""
MIB = float(1 << 20)
HOST = 8
"""Ranks of the domains that bytes in flight were measured on."""


def links(channel: Channel) -> ScaleUpLinks:
    """Return the constants of the channel's scale-up links."""
    return fabric(channel.fabric) if isinstance(channel.fabric, str) else channel.fabric


def network(channel: Channel) -> ScaleOutLinks:
    """Return the constants of the network between domains."""
    return network_of(channel.network) if isinstance(channel.network, str) else channel.network


def step(channel: Channel, algorithm: str, protocol: nccl.Protocol) -> Seconds:
    """Return the latency of one step inside a domain."""
    constants = links(channel)
    measured = dict(constants.step).get(protocol)
    return (
        nccl.step(constants.steps, algorithm, protocol) if measured is None else measured
    ) + channel.scale_up_latency


def ring_rate(channel: Channel) -> BytesPerSecond:
    """Return the bus bandwidth of a ring inside a domain."""
    constants = links(channel)
    usable = constants.usable(channel.ranks_per_host, channel.scale_up_bandwidth, channel.scale_up_pair, channel.sides)
    return usable * constants.ring * channel.scale_up_factor


def out_rate(channel: Channel) -> BytesPerSecond:
    """Return what the group delivers across a domain's boundary to its neighbour."""
    return channel.scale_out_bandwidth * network(channel).efficiency * channel.scale_out_factor


def exchange_rate(channel: Channel) -> BytesPerSecond:
    """Return the same where every rank sends to every other."""
    return channel.exchange_bandwidth * network(channel).efficiency * channel.scale_out_factor


def hop(channel: Channel) -> Seconds:
    """Return the latency of one hop between hosts beyond NCCL's constants for InfiniBand and one switch."""
    return network(channel).latency + max(0.0, channel.latency - ONE_SWITCH)


def fill(channel: Channel, rate: BytesPerSecond) -> Seconds:
    """Return the time of the bytes in flight in a pipelined collective at `rate`.

    Inside a domain 32 channels hold a slice each, and no fewer than a 4 MiB buffer a rank; across domains the
    channels follow the NICs, which ranks share evenly.
    """
    if channel.inside_host:
        return widened(links(channel).fill, channel) / rate
    return links(channel).fill * channel.ranks_per_host / HOST / rate


def widened(fill: Bytes, channel: Channel) -> Bytes:
    """Return the bytes in flight inside a domain: those of eight ranks, and more with more ranks."""
    return fill * max(1.0, channel.ranks_per_host / HOST)


def levels(hosts: int) -> float:
    """Return the depth of a binary tree over hosts."""
    return math.log2(max(hosts, 1))


def tree_bytes(hosts: int, nbytes: Bytes) -> Bytes:
    """Return what the busiest host sends in a double binary tree.

    Each tree carries half of the buffer, up and down, and each host is inside one tree (up once, down twice) and a
    leaf of the other (up once): 2. Three hosts have one leaf a tree: 3/2; two only exchange halves both ways: 1.
    """
    return nbytes * (0.0 if hosts <= 1 else 1.0 if hosts == 2 else 1.5 if hosts == 3 else 2.0)
