"""A duration anywhere between two bounds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from simulator.errors import ScenarioError
from simulator.reliability.durations.base import Duration
from simulator.units import Seconds, Share


@dataclass(frozen=True, kw_only=True)
class Uniform(Duration):
    kind: ClassVar[str] = "uniform"
    low: Seconds
    """Shortest."""
    high: Seconds
    """Longest."""

    def __post_init__(self) -> None:
        if self.low > self.high:
            raise ScenarioError(
                f"a uniform duration goes from `low` to `high`, and {self.low:g} s is above {self.high:g} s"
            )

    def expected(self) -> Seconds:
        return (self.low + self.high) / 2

    def longer_than(self, time: Seconds) -> Share:
        return (
            min(max((self.high - time) / (self.high - self.low), 0.0), 1.0)
            if self.high > self.low
            else float(self.low > time)
        )

    def sample(self, random: np.random.Generator, count: int) -> np.ndarray:
        return self.low + (self.high - self.low) * random.random(count)
