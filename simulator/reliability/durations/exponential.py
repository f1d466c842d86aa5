"""A duration without memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from simulator.reliability.durations.base import Duration
from simulator.units import Seconds


@dataclass(frozen=True, kw_only=True)
class ExponentialDuration(Duration):
    kind: ClassVar[str] = "exponential"
    mean: Seconds

    def expected(self) -> Seconds:
        return self.mean

    def sample(self, random: np.random.Generator, count: int) -> np.ndarray:
        return self.mean * random.standard_exponential(count)
