"""The `moe` section: how unevenly tokens go to experts, and what an expert accepts."""

from __future__ import annotations

from dataclasses import dataclass

from simulator.units import Number


@dataclass(frozen=True, kw_only=True)
class Moe:
    imbalance: Number = 1.0
    """Tokens of the busiest expert rank over the mean; published speeds are measured with balanced routing."""
    capacity: Number | None = None
    """Most tokens of an expert over the mean: experts are padded to it and drop the rest; none where left out."""
