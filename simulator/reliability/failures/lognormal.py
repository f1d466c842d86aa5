"""Lifetimes with a lognormal shape, given by the mean of one unit.

A length-biased lognormal is a lognormal with mu + sigma^2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from simulator.reliability.failures.renewal import Renewal
from simulator.units import Number


@dataclass(frozen=True, kw_only=True)
class Lognormal(Renewal):
    kind: ClassVar[str] = "lognormal"
    shape: Number = 1.0
    """Standard deviation of the logarithm."""

    def lives(self, random: np.random.Generator, count: int) -> np.ndarray:
        return self.mtbf * np.exp(self.shape * random.standard_normal(count) - self.shape**2 / 2)

    def long_lives(self, random: np.random.Generator, count: int) -> np.ndarray:
        return self.mtbf * np.exp(self.shape * random.standard_normal(count) + self.shape**2 / 2)
