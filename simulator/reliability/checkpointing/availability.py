"""The interval of best availability when no failure strikes the redo (Saxena et al., arXiv 2410.18124)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from simulator.reliability import theory
from simulator.reliability.checkpointing.base import CheckpointPolicy
from simulator.units import Seconds


@dataclass(frozen=True, kw_only=True)
class Availability(CheckpointPolicy):
    kind: ClassVar[str] = "availability"

    def every(self, *, stall: Seconds, mtbf: Seconds, recovery: Seconds) -> Seconds:
        return theory.availability_interval(stall, mtbf, recovery)
