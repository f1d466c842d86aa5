"""A duration without memory."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from simulator.reliability.durations.base import Duration
from simulator.units import Seconds, Share


@dataclass(frozen=True, kw_only=True)
class ExponentialDuration(Duration):
    kind: ClassVar[str] = "exponential"
    mean: Seconds
    """Mean of the duration."""

    def expected(self) -> Seconds:
        return self.mean

    def longer_than(self, time: Seconds) -> Share:
        return math.exp(-time / self.mean) if self.mean > 0 else 0.0

    def sample(self, random: np.random.Generator, count: int) -> np.ndarray:
        return self.mean * random.standard_exponential(count)
