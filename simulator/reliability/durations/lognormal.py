"""A duration with a heavy right tail, given by its mean and coefficient of variation.

sigma^2 = ln(1 + cv^2) and mu = ln(mean) - sigma^2 / 2. Repair times of 23,552 failures at Los Alamos are
closer to a lognormal than to a Weibull, a gamma or an exponential (LA-UR-05-7318, fitted by AIC).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from simulator.reliability.durations.base import Duration
from simulator.units import Number, Seconds, Share


@dataclass(frozen=True, kw_only=True)
class LognormalDuration(Duration):
    kind: ClassVar[str] = "lognormal"
    mean: Seconds
    """Mean of the duration, not its median."""
    cv: Number = 1.0
    """Standard deviation over mean."""

    def expected(self) -> Seconds:
        return self.mean

    def longer_than(self, time: Seconds) -> Share:
        return beyond(time, self.mean, self.cv)

    def sample(self, random: np.random.Generator, count: int) -> np.ndarray:
        sigma = math.sqrt(math.log1p(self.cv**2))
        return self.mean * np.exp(sigma * random.standard_normal(count) - sigma**2 / 2)


def beyond(time: Seconds, mean: Seconds, cv: Number) -> Share:
    """Return the share of a lognormal around `mean` that is longer than `time`; all or nothing where `cv` is 0."""
    if time <= 0 or mean <= 0 or cv == 0:
        return float(mean > time)
    sigma = math.sqrt(math.log1p(cv**2))
    return 0.5 * math.erfc((math.log(time / mean) + sigma**2 / 2) / sigma / math.sqrt(2))
