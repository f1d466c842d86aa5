"""Causes in which every unit lives, fails, is renewed and lives again, each with its own age.

The superposition of n such units has n / mtbf events a second in the long run, whatever the shape of the
lifetime. A stationary fleet starts with units of every age and has that rate from the first second: the
life that is left is a uniform part of a life drawn in proportion to its length. A new fleet starts at age 0.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Literal

import numpy as np

from simulator.reliability.failures.base import Cause
from simulator.units import Seconds


@dataclass(frozen=True, kw_only=True)
class Renewal(Cause):
    mtbf: Seconds
    """Mean time between failures of one unit, whatever the shape."""
    age: Literal["stationary", "new"] = "stationary"
    """`stationary`: units have been running for long; `new`: all begin at age 0."""

    def rate(self, units: int) -> float:
        return units / self.mtbf

    @abstractmethod
    def lives(self, random: np.random.Generator, count: int) -> np.ndarray:
        """Return `count` lifetimes of mean `mtbf`."""

    @abstractmethod
    def long_lives(self, random: np.random.Generator, count: int) -> np.ndarray:
        """Return lifetimes drawn in proportion to their length, as of units met at an arbitrary moment."""

    def first(self, random: np.random.Generator, count: int) -> np.ndarray:
        """Return the time to the first failure of each of `count` units."""
        if self.age == "new":
            return self.lives(random, count)
        left: np.ndarray = random.random(count) * self.long_lives(random, count)
        return left
