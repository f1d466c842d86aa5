"""What every policy about slow hosts is: how much time they may cost before they are replaced."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from simulator.units import Seconds


@dataclass(frozen=True, kw_only=True)
class SlowHostPolicy(ABC):
    kind: ClassVar[str]

    @abstractmethod
    def bears(self, cost: Seconds) -> Seconds:
        """Return the time lost to slow hosts after which they are replaced, which costs `cost`."""
