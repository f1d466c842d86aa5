"""Rates and shapes from what was observed, lives that had not ended yet included."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from simulator.sums import added
from simulator.units import Number, Seconds, Share


class Estimate(NamedTuple):
    value: Number
    low: Number
    high: Number


def rate(count: Number, exposed: Seconds, level: Share = 0.9) -> Estimate:
    """Return failures per second of exposure, with the exact interval of a Poisson count (Garwood 1936).

    `exposed` is the sum over all units, failed or not: a unit without a failure counts with the time it was
    watched, which is all that censoring asks of an exponential rate.

    >>> found = rate(419, 419.0)
    >>> round(found.low, 3), round(found.high, 3)
    (0.921, 1.084)
    """
    from scipy.special import gammaincinv

    tail = (1 - level) / 2
    low = gammaincinv(count, tail) if count > 0 else 0.0
    high = gammaincinv(count + 1, 1 - tail)
    return Estimate(count / exposed, float(low) / exposed, float(high) / exposed)


def weibull_shape(ended: Sequence[Seconds], running: Sequence[Seconds] = ()) -> Number:
    """Return the most likely Weibull shape of lives that ended and lives that still ran when last seen.

    Solves sum(t^k ln t) / sum(t^k) - 1/k = mean of ln t over the lives that ended; the left side grows with k.
    """
    logs = [math.log(time) for time in ended]
    every = logs + [math.log(time) for time in running]
    top, mean = max(every), added(logs) / len(logs)

    def excess(shape: Number) -> Number:
        weights = [math.exp(shape * (log - top)) for log in every]
        weighted = added(weight * log for weight, log in zip(weights, every, strict=True))
        return weighted / added(weights) - 1 / shape - mean

    low, high = 1e-3, 1e3
    for _ in range(200):
        middle = math.sqrt(low * high)
        low, high = (low, middle) if excess(middle) > 0 else (middle, high)
    return low


def weibull_mean(shape: Number, ended: Sequence[Seconds], running: Sequence[Seconds] = ()) -> Seconds:
    """Return the most likely mean life at that shape: scale^k = sum(t^k) / number ended."""
    total = added(time**shape for time in (*ended, *running))
    return float((total / len(ended)) ** (1 / shape)) * math.gamma(1 + 1 / shape)
