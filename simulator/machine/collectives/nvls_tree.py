"""NVLS-tree: NVLink SHARP inside hosts, a double binary tree over the hosts' NICs between them.

NCCL 2.18 and later on Hopper. Latency by NCCL's model: 25 us + 2 log2(k) 20.9 us; with the wait for complete slices of
1 MiB at each level it grows by 84 us a doubling of hosts at 400 Gb/s, as measured from 4 to 128 hosts.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import ClassVar

from simulator.machine.channel import Channel
from simulator.machine.collectives import nccl
from simulator.machine.collectives.base import Collective, Operation, Plan
from simulator.machine.collectives.nvls import inside_per_byte, worthwhile
from simulator.machine.collectives.rates import fill, hop, levels, out_rate, tree_bytes
from simulator.machine.collectives.tree import slices
from simulator.units import Bytes


@dataclass(frozen=True, kw_only=True)
class NvlsTree(Collective):
    kind: ClassVar[str] = "nvls-tree"
    since: ClassVar[int] = 2023
    operations: ClassVar[tuple[Operation, ...]] = ("all_reduce",)

    def supports(self, operation: Operation, channel: Channel) -> bool:
        return operation in self.operations and not channel.inside_host and worthwhile(channel)

    def steps(self, operation: Operation, channel: Channel) -> int:
        return 2 + 2 * ceil(levels(channel.hosts))

    def up_bytes(self, operation: Operation, nbytes: Bytes, channel: Channel) -> Bytes:
        return nbytes * (channel.ranks_per_host + 1) / channel.ranks_per_host

    def out_bytes(self, operation: Operation, nbytes: Bytes, channel: Channel) -> Bytes:
        return tree_bytes(channel.hosts, nbytes)

    def plans(self, operation: Operation, channel: Channel) -> tuple[Plan, ...]:
        per_byte = max(inside_per_byte(channel), tree_bytes(channel.hosts, 1.0) / out_rate(channel))
        between = nccl.step("NET", "NVLSTree", "Simple") + hop(channel)
        latency = nccl.step("NVLINK", "NVLSTree", "Simple") + 2 * levels(channel.hosts) * between
        return (
            Plan(
                protocol="Simple",
                latency=latency * channel.latency_factor,
                per_byte=per_byte,
                fills=((fill(channel, 2 / per_byte), per_byte), slices(channel)),
                expected_latency=latency * channel.latency_factor,
                expected_per_byte=per_byte,
            ),
        )
