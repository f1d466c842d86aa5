"""What every duration is: a mean, and draws in seconds.

A bare duration in a scenario, such as ``60s``, is short for ``{kind: fixed, time: 60s}``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields, replace
from typing import ClassVar, Self

import numpy as np

from simulator.units import Number, Seconds, Share


@dataclass(frozen=True, kw_only=True)
class Duration(ABC):
    kind: ClassVar[str]
    short_for: ClassVar[tuple[str, str]] = ("fixed", "time")
    """The kind and field that a bare value stands for."""

    @abstractmethod
    def expected(self) -> Seconds:
        """Return the mean."""

    @abstractmethod
    def sample(self, random: np.random.Generator, count: int) -> np.ndarray:
        """Return `count` independent durations in seconds."""

    @abstractmethod
    def longer_than(self, time: Seconds) -> Share:
        """Return the share of durations beyond `time`."""

    def scaled(self, times: Number) -> Self:
        """Return a duration of the same shape that is `times` as long.

        >>> from simulator.reliability.durations.lognormal import LognormalDuration
        >>> LognormalDuration(mean=480.0, cv=0.5).scaled(2.0)
        LognormalDuration(mean=960.0, cv=0.5)
        """
        lengths = [field.name for field in fields(self) if field.type == "Seconds"]
        return replace(self, **{name: times * getattr(self, name) for name in lengths})

    def constant(self) -> Seconds | None:
        """Return the one value it always has, or None where it varies."""
        return None
