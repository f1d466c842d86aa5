"""Infant mortality (shape below 1) or wear-out (above 1), given by the mean of one unit.

Scale = mtbf / Gamma(1 + 1/shape). A length-biased life is scale * G^(1/shape) with G ~ Gamma(1 + 1/shape).
Nodes at Los Alamos have shapes of 0.49-0.82, Titan's old GPU batch 2.64 (corroding resistors).
The shape belongs to a unit with an age. On ``job`` the whole job is renewed at every failure, which no
cluster does; it is allowed, with a warning, because the literature has results for it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from simulator.reliability.failures.renewal import Renewal
from simulator.units import Number


@dataclass(frozen=True, kw_only=True)
class Weibull(Renewal):
    kind: ClassVar[str] = "weibull"
    shape: Number = 0.7
    """Below 1 units fail early, above 1 they wear out."""

    @property
    def scale(self) -> float:
        return self.mtbf / math.gamma(1 + 1 / self.shape)

    def lives(self, random: np.random.Generator, count: int) -> np.ndarray:
        return self.scale * random.standard_exponential(count) ** (1 / self.shape)

    def long_lives(self, random: np.random.Generator, count: int) -> np.ndarray:
        return self.scale * random.standard_gamma(1 + 1 / self.shape, count) ** (1 / self.shape)

    def warnings(self) -> tuple[str, ...]:
        if self.unit != "job":
            return ()
        return (
            f"cause {self.label!r}: a Weibull on the job renews all its hosts at every failure; give it to the host",
        )
