"""A duration that is always the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from simulator.reliability.durations.base import Duration
from simulator.units import Seconds, Share


@dataclass(frozen=True, kw_only=True)
class Fixed(Duration):
    kind: ClassVar[str] = "fixed"
    time: Seconds
    """The duration."""

    def expected(self) -> Seconds:
        return self.time

    def longer_than(self, time: Seconds) -> Share:
        return float(self.time > time)

    def sample(self, random: np.random.Generator, count: int) -> np.ndarray:
        return np.full(count, self.time)

    def constant(self) -> Seconds | None:
        return self.time
