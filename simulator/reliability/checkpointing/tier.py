"""A place that a save goes to: memory of peers, local disk, remote storage."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from simulator.units import Count, Seconds, Share

Radius = Literal["process", "host", "rack"]


@dataclass(frozen=True, kw_only=True)
class Tier:
    interval: Seconds
    """Useful work between saves to this tier; a multiple of the tier before it, to which it is rounded."""
    stall: Seconds
    """Time that training waits for a save."""
    load: Seconds = 0.0
    """Time to come back from it, added to the restart."""
    persist: Seconds = 0.0
    """Time after the stall until the save can be used."""
    survives: Share | Radius = 1.0
    """Share of interruptions that leave the save usable, or the largest blast radius that does: ``process`` survives
    software failures, ``host`` the loss of hosts, ``rack`` of whole racks or leaf switches."""
    peers: Count = 1
    """Hosts that hold a copy; with two or more, hosts lost together may be a whole group of peers."""
