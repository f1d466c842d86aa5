"""Daly's higher-order interval (Future Generation Computer Systems 22(3), 2006): the default."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from simulator.reliability import theory
from simulator.reliability.checkpointing.base import CheckpointPolicy
from simulator.units import Seconds


@dataclass(frozen=True, kw_only=True)
class YoungDaly(CheckpointPolicy):
    kind: ClassVar[str] = "young-daly"

    def every(self, *, stall: Seconds, mtbf: Seconds, recovery: Seconds) -> Seconds:
        return theory.daly(stall, mtbf)
