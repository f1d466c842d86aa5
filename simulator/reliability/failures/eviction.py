"""Spot capacity that its owner takes back, with a notice.

A save that ends within the notice loses no work. The host is gone for `repair`, the time until the market
gives one back.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from simulator.reliability.failures.base import Unit
from simulator.reliability.failures.exponential import Exponential
from simulator.units import Seconds


@dataclass(frozen=True, kw_only=True)
class Eviction(Exponential):
    kind: ClassVar[str] = "eviction"
    unit: Unit = "host"
    notice: Seconds = 120.0
    """Time between the warning and the loss."""

    def seconds_of_notice(self) -> Seconds:
        return self.notice
