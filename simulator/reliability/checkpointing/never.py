"""Never save: an interruption throws everything away."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from simulator.reliability.checkpointing.base import CheckpointPolicy
from simulator.units import Seconds


@dataclass(frozen=True, kw_only=True)
class Never(CheckpointPolicy):
    kind: ClassVar[str] = "none"
    saves: ClassVar[bool] = False

    def every(self, *, stall: Seconds, mtbf: Seconds, recovery: Seconds) -> Seconds:
        return math.inf
