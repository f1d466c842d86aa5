"""Save after a given amount of useful work."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from simulator.reliability.checkpointing.base import CheckpointPolicy
from simulator.units import Seconds


@dataclass(frozen=True, kw_only=True)
class FixedInterval(CheckpointPolicy):
    kind: ClassVar[str] = "fixed"
    given: ClassVar[bool] = True
    interval: Seconds
    """Useful work between saves, the save itself excluded."""

    def every(self, *, stall: Seconds, mtbf: Seconds, recovery: Seconds) -> Seconds:
        return self.interval
