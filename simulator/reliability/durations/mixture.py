"""A duration of several classes, each with its share: a reset takes minutes, a swap hours, a return days."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from simulator.errors import ScenarioError
from simulator.reliability.durations.base import Duration
from simulator.reliability.durations.lognormal import beyond
from simulator.sums import added
from simulator.units import Number, Seconds, Share


@dataclass(frozen=True, kw_only=True)
class Part:
    """One class of a mixture, lognormal around its mean; ``cv: 0`` is fixed."""

    share: Share
    """Weight of the class."""
    mean: Seconds
    """Mean of its durations."""
    cv: Number = 1.0
    """Standard deviation over mean."""


@dataclass(frozen=True, kw_only=True)
class Mixture(Duration):
    kind: ClassVar[str] = "mixture"
    parts: tuple[Part, ...]
    """Shares are relative: they are divided by their sum."""

    def __post_init__(self) -> None:
        if added(part.share for part in self.parts) <= 0:
            raise ScenarioError("a mixture needs `parts`, one of them with a `share` above zero")

    def expected(self) -> Seconds:
        return added(part.share * part.mean for part in self.parts) / added(part.share for part in self.parts)

    def scaled(self, times: Number) -> Mixture:
        return replace(self, parts=tuple(replace(part, mean=times * part.mean) for part in self.parts))

    def longer_than(self, time: Seconds) -> Share:
        return added(part.share * beyond(time, part.mean, part.cv) for part in self.parts) / added(
            part.share for part in self.parts
        )

    def sample(self, random: np.random.Generator, count: int) -> np.ndarray:
        edges = np.cumsum([part.share for part in self.parts])
        chosen = np.searchsorted(edges, random.random(count) * edges[-1], side="right")
        mean = np.array([part.mean for part in self.parts])[chosen]
        sigma = np.array([math.sqrt(math.log1p(part.cv**2)) for part in self.parts])[chosen]
        found: np.ndarray = mean * np.exp(sigma * random.standard_normal(count) - sigma**2 / 2)
        return found
