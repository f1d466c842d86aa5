"""How often to save, and what it costs to save half or twice as often: the curve is flat."""

from __future__ import annotations

from typing import NamedTuple

from simulator.reliability import theory
from simulator.units import Number, Seconds


class IntervalAdvice(NamedTuple):
    best: Seconds
    """Useful work between saves that is best under exponential failures."""
    efficiency: Number
    """Useful work over wall clock there."""
    loss_at_half: Number
    """Efficiency lost by saving twice as often."""
    loss_at_double: Number
    """Efficiency lost by saving half as often."""


def interval_advice(
    stall: Seconds, mtbf: Seconds, recovery: Seconds = 0.0, downtime: Seconds = 0.0, lag: Seconds = 0.0
) -> IntervalAdvice:
    """Return the best interval and how little it matters.

    >>> best, *_ = interval_advice(10, 11136)
    >>> round(best)
    465
    """
    best = max(theory.optimal_interval(stall, mtbf), lag)

    def efficiency(interval: Seconds) -> Number:
        return theory.efficiency(interval, stall, mtbf, recovery, downtime, lag)

    top = efficiency(best)
    return IntervalAdvice(best, top, top - efficiency(best / 2), top - efficiency(best * 2))
