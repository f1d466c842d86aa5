"""PAT: parallel aggregated trees for all-gather and reduce-scatter with one rank a host; latency grows with log2.

NCCL 2.23 and later, announced in January 2025 (S. Jeaugey, "PAT: a new algorithm for all-gather and reduce-scatter
operations at scale", arXiv 2506.20252), for one rank a host only (NVIDIA/nccl, src/graph/tuning.cc, ncclPatEnable).
Latency by NCCL's model: base + log2(k) L_net / 3.5 + 2.8 us a rank; three quarters of the ring's bandwidth.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import ClassVar

from simulator.machine.channel import Channel
from simulator.machine.collectives import nccl
from simulator.machine.collectives.base import Collective, Operation, Plan, bus_factor
from simulator.machine.collectives.rates import fill, hop, levels, links, out_rate
from simulator.units import Bytes, Seconds, Share

SHARE: Share = 0.75
"""Of the ring's bandwidth (tuning.cc)."""
AGGREGATION = 3.5
"""Steps whose network latency overlaps (tuning.cc)."""
PER_RANK: Seconds = 2.8e-6
"""(tuning.cc)."""


@dataclass(frozen=True, kw_only=True)
class Pat(Collective):
    kind: ClassVar[str] = "pat"
    operations: ClassVar[tuple[Operation, ...]] = ("all_gather", "reduce_scatter")
    since: ClassVar[int] = 2025

    def supports(self, operation: Operation, channel: Channel) -> bool:
        alone = channel.ranks_per_host == 1 and channel.hosts > 1
        return operation in self.operations and alone and not links(channel).latencies

    def steps(self, operation: Operation, channel: Channel) -> int:
        return ceil(levels(channel.ranks))

    def up_bytes(self, operation: Operation, nbytes: Bytes, channel: Channel) -> Bytes:
        return 0.0

    def out_bytes(self, operation: Operation, nbytes: Bytes, channel: Channel) -> Bytes:
        return nbytes * bus_factor(operation, channel.ranks)

    def plans(self, operation: Operation, channel: Channel) -> tuple[Plan, ...]:
        rate = SHARE * out_rate(channel)
        per_byte = bus_factor(operation, channel.ranks) / rate
        steps = levels(channel.ranks) * (nccl.step("NET", "PAT", "Simple") / AGGREGATION + hop(channel))
        latency = (nccl.base("PAT", "Simple") + steps + PER_RANK * channel.ranks) * channel.latency_factor
        most = fill(channel, rate)
        return (
            Plan(
                protocol="Simple",
                latency=latency,
                per_byte=per_byte,
                fills=((most, per_byte),),
                expected_latency=latency,
                expected_per_byte=per_byte,
            ),
        )
