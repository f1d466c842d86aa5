"""What one simulated run came to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from simulator.sums import added
from simulator.units import Seconds

PARTS = ("train", "checkpoint", "lost", "detect", "diagnose", "restart", "wait", "degraded", "planned", "other")
"""Where the wall clock goes. train is useful work at full speed; lost is work that was done again; degraded what
running slower than full speed added; other is evaluation."""


class Episode(NamedTuple):
    """What the run did from `start` for `duration` seconds; `cause` where a failure began it."""

    part: str
    start: Seconds
    duration: Seconds
    cause: str = ""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    wall_clock: Seconds
    parts: Mapping[str, Seconds]
    """Over PARTS; they sum to the wall clock."""
    interruptions: Mapping[str, int]
    """Unexpected ones by cause."""
    planned: int
    uptime: Seconds
    """Time spent training and saving, on which hazards of exposure ``uptime`` run."""
    progress: bool = True
    """False where the run was given up: failures came faster than it recovered."""
    episodes: int = 0
    """Slow or degraded episodes."""
    evicted: int = 0
    replaced: int = 0
    """Slow hosts that were replaced."""
    hosts_out: Mapping[int, Seconds] = field(default_factory=dict)
    """Time for which so many hosts were away; empty where nothing says how long a repair takes."""
    timeline: tuple[Episode, ...] = ()

    @property
    def goodput(self) -> float:
        """Useful work over wall clock."""
        return self.parts["train"] / self.wall_clock if self.wall_clock else 1.0

    @property
    def unexpected(self) -> int:
        return added(self.interruptions.values())
