"""The `targets` section: what the run must not exceed; the result gives the probability that it does."""

from __future__ import annotations

from dataclasses import dataclass

from simulator.units import Dollars, Seconds, Share


@dataclass(frozen=True, kw_only=True)
class Targets:
    deadline: Seconds | None = None
    """Wall clock of the whole run."""
    budget: Dollars | None = None
    """Dollars of the whole run."""
    risk: Share = 0.1
    """Chance of missing a target that is accepted; above it the answer is no, and `run` exits 1."""
