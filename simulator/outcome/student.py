"""Student t with five degrees of freedom: the law of ln(measured / predicted), told once."""

from __future__ import annotations

from functools import lru_cache
from math import pi, sqrt

import numpy as np

from simulator.units import Number, Share

DEGREES = 5
"""Degrees of freedom: a few published sources are much further off than most. `all_below` holds for 5 alone."""


def all_below(x: np.ndarray) -> np.ndarray:
    """Return the distribution function at each value.

    Closed form for an odd number of degrees (Abramowitz and Stegun, 26.7.3).
    """
    angle = np.arctan(x / sqrt(DEGREES))
    found: np.ndarray = 0.5 + (angle + np.sin(angle) * (np.cos(angle) + 2 / 3 * np.cos(angle) ** 3)) / pi
    return found


def below(x: Number) -> Share:
    """Return the distribution function at one value.

    >>> below(0.0)
    0.5
    """
    return float(all_below(np.array([x]))[0])


@lru_cache(maxsize=4096)
def quantile(probability: Share) -> Number:
    """Return the value that the law stays below with this probability.

    >>> round(quantile(0.9), 4), quantile(0.5)
    (1.4759, 0.0)
    """
    if probability == 0.5:
        return 0.0
    if probability < 0.5:
        return -quantile(1 - probability)
    low, high = 0.0, 1e6
    for _ in range(200):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if below(middle) < probability else (low, middle)
    return (low + high) / 2
