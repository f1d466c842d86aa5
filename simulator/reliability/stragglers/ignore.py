"""Put up with slow hosts until they recover."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from simulator.reliability.stragglers.base import SlowHostPolicy
from simulator.units import Seconds


@dataclass(frozen=True, kw_only=True)
class Ignore(SlowHostPolicy):
    kind: ClassVar[str] = "ignore"

    def bears(self, cost: Seconds) -> Seconds:
        return math.inf
