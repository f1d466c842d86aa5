"""What links carry in a step, class by class: scale-up, NICs, and each tier above."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

from simulator.machine.channel import Channel
from simulator.machine.routing import Fabric
from simulator.sums import added
from simulator.units import Bytes, BytesPerSecond, Count, Seconds, Share
from topologies.base import Bundle


class Carried(NamedTuple):
    """What one group of an axis sends in a step."""

    channel: Channel
    nbytes: Bytes
    """Through the NIC share of each GPU (``collectives.wire_bytes``); over its scale-up links inside a host."""
    pattern: Literal["ring", "exchange"] = "ring"
    scale_up_bytes: Bytes = 0.0
    """Over the scale-up links of each GPU, where the group spans hosts."""


@dataclass(frozen=True, kw_only=True)
class LinkLoad:
    """What a class of links carries in one direction."""

    name: str
    count: Count
    bandwidth: BytesPerSecond
    """Of one link."""
    mean_bytes: Bytes
    peak_bytes: Bytes
    """Of the busiest link."""

    def busy(self, duration: Seconds) -> Share:
        """Return the share of `duration` that the busiest link is busy."""
        return self.peak_bytes / self.bandwidth / duration if duration > 0 else 0.0


def classes(fabric: Fabric, amounts: Mapping[Bundle, Bytes]) -> list[LinkLoad]:
    """Return the load of each class of links of a fabric from what its bundles carry.

    Bytes are those of one cable of nominal rate; a sick bundle counts as if it carried more.
    """
    wire = fabric.topology.bandwidth
    busy = {bundle: nbytes / fabric.capacity(bundle) * wire for bundle, nbytes in amounts.items()}
    found = []
    for name in [tier.name for tier in fabric.tiers] or list(dict.fromkeys(bundle.tier for bundle in amounts)):
        loads = [nbytes for bundle, nbytes in busy.items() if bundle.tier == name]
        count, total = len(loads), added(loads)
        for tier in fabric.tiers:
            if tier.name == name:
                links = max(1, round(tier.bandwidth / wire))
                units = -(-fabric.hosts // tier.hosts)
                count, total = units * links, total * links / 2
        found.append(
            LinkLoad(
                name=name,
                count=count,
                bandwidth=wire,
                mean_bytes=total / max(count, 1),
                peak_bytes=max(loads, default=0.0),
            )
        )
    return found
