"""Failures without memory: the default for a healthy fleet.

Already 512 aged hosts of any shape together are nearly Poisson; and the newer of Titan's GPU batches had
a Weibull shape of 1.02 (62 deaths of 11,370).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from simulator.reliability.failures.renewal import Renewal


@dataclass(frozen=True, kw_only=True)
class Exponential(Renewal):
    kind: ClassVar[str] = "exponential"

    def lives(self, random: np.random.Generator, count: int) -> np.ndarray:
        return self.mtbf * random.standard_exponential(count)

    def long_lives(self, random: np.random.Generator, count: int) -> np.ndarray:
        return self.mtbf * random.standard_gamma(2.0, count)
