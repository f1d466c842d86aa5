"""Daly's interval for the failure rate seen so far.

The guess counts as one interruption observed: M = (guess + exposed time) / (1 + interruptions), so that the
first hours are governed by the guess and the rest by the run.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from simulator.reliability import theory
from simulator.reliability.checkpointing.base import CheckpointPolicy
from simulator.units import Seconds


@dataclass(frozen=True, kw_only=True)
class Adaptive(CheckpointPolicy):
    kind: ClassVar[str] = "adaptive"
    learns: ClassVar[bool] = True
    guess: Seconds | None = None
    """Time between interruptions believed at the start; what the causes say where left out."""

    def every(self, *, stall: Seconds, mtbf: Seconds, recovery: Seconds) -> Seconds:
        return theory.daly(stall, self._guess(mtbf))

    def revised(self, *, stall: Seconds, mtbf: Seconds, exposed: Seconds, interruptions: int) -> Seconds | None:
        guess = self._guess(mtbf)
        if not math.isfinite(guess):
            guess, interruptions = exposed, max(interruptions - 1, 0)
        return theory.daly(stall, (guess + exposed) / (1 + interruptions))

    def _guess(self, mtbf: Seconds) -> Seconds:
        return mtbf if self.guess is None else self.guess
