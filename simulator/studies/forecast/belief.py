"""What is believed of a factor around 1: a density over its logarithm, on a grid that is fine where evidence lies."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import erf, exp, log, sqrt

import numpy as np
from numpy.typing import NDArray

from simulator.units import Number, Share

Points = NDArray[np.float64]
LogDensity = Callable[[Points], Points]
"""Logarithm of a density at points, up to a constant."""
REACH: Number = 10.0
"""Standard deviations on either side of a centre that the grid holds."""
FINE = 4001
"""Points around each centre: a four-hundredth of a standard deviation apart."""


@dataclass(frozen=True)
class Belief:
    """Points of ln(factor), and the share of the belief below each."""

    points: Points
    below: Points

    @classmethod
    def of(cls, centres: tuple[tuple[Number, Number], ...], *densities: LogDensity) -> Belief:
        """Return the product of `densities`; `centres` are where each is large, and how wide, in ln."""
        around = np.linspace(-REACH, REACH, FINE)
        points = np.unique(np.concatenate([centre + width * around for centre, width in centres]))
        logs = np.sum([density(points) for density in densities], axis=0)
        heights = np.exp(logs - logs.max())
        sums = np.concatenate([[0.0], np.cumsum(np.diff(points) * (heights[1:] + heights[:-1]) / 2)])
        return cls(points, sums / sums[-1])

    def at(self, share: Share) -> Number:
        """Return the factor that this share of the belief lies below."""
        return exp(float(np.interp(share, self.below, self.points)))

    def mean(self) -> Number:
        """Return the mean factor."""
        middle = np.exp((self.points[1:] + self.points[:-1]) / 2)
        return float(np.sum(middle * np.diff(self.below)))


def lognormal(centre: Number, sd: Number) -> LogDensity:
    """Return the density of a factor whose logarithm is normal."""
    return lambda points: -(((points - centre) / sd) ** 2) / 2


def share_below(factor: Number, sd: Number) -> Share:
    """Return the share of a lognormal around 1 that is below `factor`.

    >>> share_below(1.0, 0.6)
    0.5
    """
    return 0.5 * (1 + erf(log(factor) / sd / sqrt(2)))
