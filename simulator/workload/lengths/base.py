"""What a distribution of sample lengths says of itself."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np


class Lengths(ABC):
    """The lengths of the samples of a data set, in tokens."""

    kind: ClassVar[str]

    @abstractmethod
    def at(self, shares: np.ndarray) -> np.ndarray:
        """Return the lengths that these shares of all samples stay below, `shares` between 0 and 1."""

    def drawn(self, random: np.random.Generator, count: int, most: int) -> np.ndarray:
        """Return the whole lengths of `count` samples, each cut to at most `most` tokens."""
        return np.asarray(np.clip(np.rint(self.at(random.random(count))), 1, most))
