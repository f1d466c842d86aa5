"""The exact optimum under exponential failures, by Lambert's W."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from simulator.reliability import theory
from simulator.reliability.checkpointing.base import CheckpointPolicy
from simulator.units import Seconds


@dataclass(frozen=True, kw_only=True)
class Optimal(CheckpointPolicy):
    kind: ClassVar[str] = "optimal"

    def every(self, *, stall: Seconds, mtbf: Seconds, recovery: Seconds) -> Seconds:
        return theory.optimal_interval(stall, mtbf)
