"""Ring: every rank passes its part to the next one; optimal bytes, latency linear in the ranks.

All-reduce sends 2(n-1)/n of the buffer in 2(n-1) steps, all-gather and reduce-scatter half of both (P. Patarasuk and
X. Yuan, J. Parallel Distrib. Comput. 69, 2009). One ring a channel of NCCL: through a host of eight GPUs the rings
together use all its NICs, so that bus bandwidth = min(NVLink ring, sum of the host's NICs that the group has).
Latency by NCCL's model (tuning.cc): steps inside a host and steps between hosts. Its 38 us a host with Simple is what
all-gathers on up to 128 hosts of 8 x 400 Gb/s show (SimAI's table); LL128, which NCCL expects to take half of that
between hosts, is left out there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from simulator.machine.channel import Channel
from simulator.machine.collectives import domain, nccl
from simulator.machine.collectives.base import Collective, Operation, Plan, bus_factor
from simulator.machine.collectives.rates import fill, hop, links, out_rate, ring_rate, step
from simulator.units import Bytes, BytesPerSecond, Seconds


@dataclass(frozen=True, kw_only=True)
class Ring(Collective):
    kind: ClassVar[str] = "ring"
    operations: ClassVar[tuple[Operation, ...]] = ("all_reduce", "all_gather", "reduce_scatter", "broadcast")

    def steps(self, operation: Operation, channel: Channel) -> int:
        return (channel.ranks - 1) * (2 if operation == "all_reduce" else 1)

    def up_bytes(self, operation: Operation, nbytes: Bytes, channel: Channel) -> Bytes:
        return nbytes * bus_factor(operation, channel.ranks) if channel.ranks_per_host > 1 else 0.0

    def out_bytes(self, operation: Operation, nbytes: Bytes, channel: Channel) -> Bytes:
        return 0.0 if channel.inside_host else nbytes * bus_factor(operation, channel.ranks)

    def plans(self, operation: Operation, channel: Channel) -> tuple[Plan, ...]:
        if (inside := domain.measured(channel)) is not None:
            return domain.ring(operation, channel, inside, self.steps(operation, channel))
        rate, factor = bandwidth(channel), bus_factor(operation, channel.ranks)
        constants = links(channel)
        most = fill(channel, rate)
        low = min(0.5 * rate, nccl.ll_most(constants.nccl, channel.hosts))
        found = [Plan(protocol="LL", latency=self.latency("LL", operation, channel), per_byte=factor / low)]
        if (
            constants.steps == "NVLINK"
            and channel.inside_host
            and not constants.latencies
            and constants.shape != "torus"
        ):
            found.append(self._plan("LL128", operation, channel, nccl.LL128_SHARE * rate, most / nccl.LL128_SHARE))
        found.append(self._plan("Simple", operation, channel, rate, most))
        return tuple(found)

    def latency(self, protocol: nccl.Protocol, operation: Operation, channel: Channel) -> Seconds:
        """Return base + (steps - inter) L_intra + inter L_net, inter = 2(k-1) or k-1 for k hosts."""
        constants = links(channel)
        if constants.latencies and channel.inside_host:
            return dict(constants.latencies)[protocol] * channel.latency_factor
        inside = step(channel, "Ring", protocol)
        if channel.inside_host:
            return (nccl.base("Ring", protocol) + self.steps(operation, channel) * inside) * channel.latency_factor
        between = (channel.hosts - 1) * (2 if operation == "all_reduce" else 1)
        steps = self.steps(operation, channel) - between
        time = (
            nccl.base("Ring", protocol)
            + max(steps, 0) * max(inside, nccl.overhead(protocol))
            + between * (nccl.step("NET", "Ring", protocol) + hop(channel))
        )
        plateau = nccl.PLATEAU if protocol == "Simple" and operation == "all_reduce" else 1.0
        return time * plateau * channel.latency_factor

    def _plan(
        self, protocol: nccl.Protocol, operation: Operation, channel: Channel, rate: BytesPerSecond, most: Seconds
    ) -> Plan:
        latency = self.latency(protocol, operation, channel)
        per_byte = bus_factor(operation, channel.ranks) / rate + turn(channel)
        return Plan(
            protocol=protocol,
            latency=latency,
            per_byte=per_byte,
            fills=((most, per_byte),),
            expected_latency=latency,
            expected_per_byte=per_byte,
        )


def turn(channel: Channel) -> float:
    """Return the seconds a byte of the buffer that a rank's own part takes beside no send.

    A ring of n ranks sends in 2(n-1) steps or n-1, and works on a part in one more: a rank reads its own part before
    the first send, or writes the last one that it receives.
    """
    rate = links(channel).turn
    return 1 / (channel.ranks * rate) if rate and channel.inside_host else 0.0


def bandwidth(channel: Channel) -> BytesPerSecond:
    """Return the bus bandwidth of large ring collectives."""
    if channel.inside_host:
        return ring_rate(channel)
    if channel.ranks_per_host <= 1:
        return out_rate(channel)
    return min(ring_rate(channel), out_rate(channel))
