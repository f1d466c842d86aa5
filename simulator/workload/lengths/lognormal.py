"""Lognormal lengths, given by their mean and 90th percentile.

With ln(length) ~ N(mu, sigma^2), the mean is exp(mu + sigma^2 / 2) and the 90th percentile exp(mu + z sigma), with
z = 1.2816. Their ratio r gives sigma = z - sqrt(z^2 - 2 ln r), the smaller of two solutions. No lognormal has r above
exp(z^2 / 2).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, log, sqrt
from statistics import NormalDist
from typing import ClassVar

import numpy as np

from simulator.errors import ScenarioError
from simulator.units import Count, Number
from simulator.workload.lengths.base import Lengths

Z = NormalDist().inv_cdf(0.9)
HEAVIEST = exp(Z**2 / 2)
"""Largest ratio of 90th percentile to mean of any lognormal, 2.27."""
GRID = tuple(NormalDist().inv_cdf((place + 0.5) / 4096) for place in range(4096))
"""Standard normal values of equal shares, between which quantiles are interpolated."""


@dataclass(frozen=True, kw_only=True)
class Lognormal(Lengths):
    kind: ClassVar[str] = "lognormal"

    mean: Number
    """Mean tokens of a sample, before any are cut."""
    p90: Number
    """Tokens that nine samples of ten stay below; between the mean and 2.27 times the mean."""
    max: Count | None = None
    """Longer samples are cut to this; to `training.sequence_length` where left out."""

    def __post_init__(self) -> None:
        if not 0 < self.mean <= self.p90 <= HEAVIEST * self.mean:
            raise ScenarioError(
                f"no lognormal has a mean of {self.mean:g} and a p90 of {self.p90:g}; p90 lies between the mean and "
                f"{HEAVIEST:.2f} times the mean"
            )

    @property
    def sigma(self) -> float:
        """Standard deviation of the logarithm of a length."""
        return Z - sqrt(max(Z**2 - 2 * log(self.p90 / self.mean), 0.0))

    def at(self, shares: np.ndarray) -> np.ndarray:
        normal = np.interp(shares, (np.arange(len(GRID)) + 0.5) / len(GRID), GRID)
        found = np.exp(log(self.mean) - self.sigma**2 / 2 + self.sigma * normal)
        return np.asarray(np.minimum(found, self.max) if self.max is not None else found)
