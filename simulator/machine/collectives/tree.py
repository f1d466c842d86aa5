"""Double binary tree: two trees, each reduces and broadcasts half of the buffer; latency grows with log2(hosts).

P. Sanders, J. Speck, J. Träff, "Two-tree algorithms for full bandwidth broadcast, reduction and scan", Parallel
Computing 35, 2009; NCCL 2.4 (NVIDIA blog, February 2019). GPUs of a host form a chain. Latency by NCCL's model: base +
2 ((g-1) L_intra + log2(k) L_net); at each level a slice goes on when it is complete.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import ClassVar

from simulator.machine.channel import Channel
from simulator.machine.collectives import nccl
from simulator.machine.collectives.base import Collective, Operation, Plan
from simulator.machine.collectives.links import shared
from simulator.machine.collectives.rates import fill, hop, levels, links, out_rate, ring_rate, step, tree_bytes
from simulator.units import Bytes, BytesPerSecond, Seconds, Share


@dataclass(frozen=True, kw_only=True)
class Tree(Collective):
    kind: ClassVar[str] = "tree"
    operations: ClassVar[tuple[Operation, ...]] = ("all_reduce",)

    def supports(self, operation: Operation, channel: Channel) -> bool:
        return operation in self.operations and not links(channel).latencies and links(channel).shape != "torus"

    def steps(self, operation: Operation, channel: Channel) -> int:
        return 2 * (channel.ranks_per_host - 1 + ceil(levels(channel.hosts)))

    def up_bytes(self, operation: Operation, nbytes: Bytes, channel: Channel) -> Bytes:
        return 2 * nbytes if channel.ranks_per_host > 1 else 0.0

    def out_bytes(self, operation: Operation, nbytes: Bytes, channel: Channel) -> Bytes:
        return tree_bytes(channel.hosts, nbytes)

    def plans(self, operation: Operation, channel: Channel) -> tuple[Plan, ...]:
        constants = links(channel)
        bus = min(ring_rate(channel), out_rate(channel)) if channel.ranks_per_host > 1 else out_rate(channel)
        low = min(0.5, nccl.ll_most(constants.nccl, channel.hosts) / bus)
        found = [self._plan("LL", channel, low, fills=False)]
        if constants.steps == "NVLINK":
            found.append(self._plan("LL128", channel, nccl.LL128_SHARE * shared().tree))
        found.append(self._plan("Simple", channel, shared().tree))
        return tuple(found)

    def _plan(self, protocol: nccl.Protocol, channel: Channel, share: Share, fills: bool = True) -> Plan:
        per_byte = 0.0
        if channel.ranks_per_host > 1:
            per_byte = 2 / (ring_rate(channel) * share)
        if not channel.inside_host:
            per_byte = max(per_byte, tree_bytes(channel.hosts, 1.0) / (out_rate(channel) * share))
        inside = step(channel, "Tree", protocol) * (channel.ranks_per_host - 1)
        between = levels(channel.hosts) * (nccl.step("NET", "Tree", protocol) + hop(channel))
        latency = (nccl.base("Tree", protocol) + 2 * (inside + between)) * channel.latency_factor
        rate = 2 / per_byte
        return Plan(
            protocol=protocol,
            latency=latency,
            per_byte=per_byte,
            fills=((fill(channel, rate), per_byte), slices(channel)) if fills else (),
            expected_latency=latency,
            expected_per_byte=per_byte,
            correction=nccl.tree_correction,  # type: ignore[arg-type]
        )


def slices(channel: Channel) -> tuple[Seconds, float]:
    """Return what waiting for complete slices adds: one at each level, up and down, through a rank's NIC share."""
    if channel.inside_host:
        return 0.0, 0.0
    rate: BytesPerSecond = out_rate(channel) / channel.ranks_per_host
    hops = 2 * levels(channel.hosts)
    return hops * shared().slice / rate, hops / channel.ranks_per_host / rate
