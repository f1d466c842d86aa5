"""Young's interval, the first-order optimum sqrt(2 d M) (CACM 17(9), 1974)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from simulator.reliability import theory
from simulator.reliability.checkpointing.base import CheckpointPolicy
from simulator.units import Seconds


@dataclass(frozen=True, kw_only=True)
class Young(CheckpointPolicy):
    kind: ClassVar[str] = "young"

    def every(self, *, stall: Seconds, mtbf: Seconds, recovery: Seconds) -> Seconds:
        return theory.young(stall, mtbf)
