"""What links carry in a step, class by class: scale-up, NICs, and each tier above."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from simulator.machine.channel import Channel
from simulator.machine.fabric import Fabric
from simulator.machine.traffic import Floats, Pattern
from simulator.units import Bytes, BytesPerSecond, Count, Seconds, Share


class Carried(NamedTuple):
    """What one group of an axis sends in a step."""

    channel: Channel
    nbytes: Bytes
    """Through the NIC share of each GPU (``collectives.wire_bytes``); over its scale-up links inside a host."""
    pattern: Pattern = "ring"
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


def classes(fabric: Fabric, nbytes: Floats, rate: BytesPerSecond) -> list[LinkLoad]:
    """Return the load of each tier of a fabric from the bytes on its links, counted in cables of `rate`.

    A sick link counts as if it carried more.
    """
    busy = nbytes / fabric.capacity * rate
    cables = np.maximum(1, np.round(fabric.capacity / rate))
    found = []
    for name in dict.fromkeys(fabric.tiers):
        of_tier = np.array([tier == name for tier in fabric.tiers])
        found.append(
            LinkLoad(
                name=name,
                count=int(cables[of_tier].sum()) // 2,
                bandwidth=rate,
                mean_bytes=float(np.average(busy[of_tier], weights=cables[of_tier])),
                peak_bytes=float(busy[of_tier].max()),
            )
        )
    return found
