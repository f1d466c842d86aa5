"""A duration whose hazard rises (shape above 1) or falls (below 1) with time, given by its mean."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from simulator.reliability.durations.base import Duration
from simulator.units import Number, Seconds, Share


@dataclass(frozen=True, kw_only=True)
class WeibullDuration(Duration):
    kind: ClassVar[str] = "weibull"
    mean: Seconds
    """Mean of the duration, not its scale."""
    shape: Number = 1.0
    """Below 1 the end becomes less likely with time, above 1 more."""

    def expected(self) -> Seconds:
        return self.mean

    def longer_than(self, time: Seconds) -> Share:
        return math.exp(-((time / self.mean * math.gamma(1 + 1 / self.shape)) ** self.shape)) if self.mean > 0 else 0.0

    def sample(self, random: np.random.Generator, count: int) -> np.ndarray:
        scale = self.mean / math.gamma(1 + 1 / self.shape)
        return scale * random.standard_exponential(count) ** (1 / self.shape)
