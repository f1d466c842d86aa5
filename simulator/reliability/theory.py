"""Closed forms of checkpoints under exponential failures: pure functions of seconds.

Symbols: tau useful work between saves, d what a save costs (delta), M mean time between interruptions,
R recovery that can itself be struck, D downtime that cannot, W total useful work.
"""

from __future__ import annotations

import math

from simulator.units import Number, Seconds


def young(stall: Seconds, mtbf: Seconds) -> Seconds:
    """Return Young's interval sqrt(2 d M) (CACM 17(9), 1974, doi:10.1145/361147.361115).

    >>> round(young(10, 11136))  # Llama 3's failures and a save of 10 s
    472
    """
    if not math.isfinite(mtbf):
        return math.inf
    return math.sqrt(2 * stall * mtbf)


def daly(stall: Seconds, mtbf: Seconds) -> Seconds:
    """Return Daly's higher-order interval (FGCS 22(3), 2006, doi:10.1016/j.future.2004.11.016).

    sqrt(2dM) (1 + sqrt(d/2M)/3 + (d/2M)/9) - d for d < 2M, otherwise M.

    >>> round(daly(5, 1440), 2), round(daly(5, 15), 2)  # his table prints 117 and 9.1
    (116.69, 9.14)
    """
    if not math.isfinite(mtbf):
        return math.inf
    if stall >= 2 * mtbf:
        return mtbf
    ratio = stall / (2 * mtbf)
    return math.sqrt(2 * stall * mtbf) * (1 + math.sqrt(ratio) / 3 + ratio / 9) - stall


def optimal_interval(stall: Seconds, mtbf: Seconds) -> Seconds:
    """Return the exact optimum tau = M (1 + W0(-e^(-d/M - 1))), with Lambert's W; it knows no R and no D.

    u = tau/M solves -ln(1 - u) - u = d/M, which Newton's method does without the cancellation that W0 has
    near its branch point.

    >>> round(optimal_interval(5, 15), 3)
    9.167
    """
    if not math.isfinite(mtbf):
        return math.inf
    cost = stall / mtbf
    if cost <= 0:
        return 0.0
    if cost > 30:
        return mtbf
    u = min(math.sqrt(2 * cost), 1 - math.exp(-cost - 1))
    for _ in range(100):
        step = (-math.log1p(-u) - u - cost) * (1 - u) / u
        u = min(max(u - step, u / 2), (1 + u) / 2)
        if abs(step) <= 1e-14 * u:
            break
    return mtbf * u


def availability_interval(stall: Seconds, mtbf: Seconds, recovery: Seconds) -> Seconds:
    """Return the interval of best availability, the save excluded (Saxena et al., arXiv 2410.18124).

    sqrt(2 (M + R) d + d^2): it counts no failures in the redo, hence, unlike the exact optimum, knows R.

    >>> round(availability_interval(60, 7200, 420) + 60, 1)
    1018.1
    """
    if not math.isfinite(mtbf):
        return math.inf
    return math.sqrt(2 * (mtbf + recovery) * stall + stall**2)


def availability(interval: Seconds, stall: Seconds, mtbf: Seconds, recovery: Seconds) -> Number:
    """Return the availability of the same linear model: tau / (Tc (1 + (R + Tc/2) / M)), Tc = tau + d."""
    cycle = interval + stall
    return interval / (cycle * (1 + (recovery + cycle / 2) / mtbf))


def completion(
    work: Seconds, interval: Seconds, stall: Seconds, mtbf: Seconds, recovery: Seconds = 0.0, downtime: Seconds = 0.0
) -> Seconds:
    """Return the exact mean time to finish W under exponential failures that strike saves and R too.

    A segment of x seconds takes (M + D) e^(R/M) (e^(x/M) - 1). There are floor(W/tau) whole segments tau + d,
    and a shorter last one, which is saved too.
    """
    whole = math.floor(work / interval * (1 + 1e-12))
    rest = max(work - whole * interval, 0.0)
    try:
        attempts = whole * math.expm1((interval + stall) / mtbf)
        if rest > 1e-9 * interval:
            attempts += math.expm1((rest + stall) / mtbf)
        return (mtbf + downtime) * math.exp(recovery / mtbf) * attempts
    except OverflowError:
        return math.inf


def efficiency(
    interval: Seconds,
    stall: Seconds,
    mtbf: Seconds,
    recovery: Seconds = 0.0,
    downtime: Seconds = 0.0,
    lag: Seconds = 0.0,
) -> Number:
    """Return useful work over wall clock of a long run: tau / E[time of one segment] x e^(-lag/M).

    `lag` is the time after the stall until a save can be used, at most an interval. It multiplies the
    efficiency by e^(-lag/M) and does not move the best interval.

    >>> round(efficiency(600, 3, 7200, recovery=300, downtime=120, lag=300), 5)
    0.86328
    """
    if math.isinf(mtbf):
        return interval / (interval + stall)
    try:
        segment = (mtbf + downtime) * math.exp(recovery / mtbf) * math.expm1((interval + stall) / mtbf)
    except OverflowError:
        return 0.0
    return interval / segment * math.exp(-lag / mtbf)


def two_tiers(
    intervals: tuple[Seconds, Seconds],
    stalls: tuple[Seconds, Seconds],
    recoveries: tuple[Seconds, Seconds],
    mtbf: Seconds,
    survives: Number,
) -> Number:
    """Return the efficiency of two tiers to first order, where a save to the farther tier replaces one to the nearer.

    (1 - l1 (tau1/2 + R1) - l2 (tau2/2 + R2)) / (1 + d1 (1/tau1 - 1/tau2) + d2/tau2), with l1 = survives / M and
    l2 = (1 - survives) / M.
    """
    (near, far), (near_stall, far_stall), (near_recovery, far_recovery) = intervals, stalls, recoveries
    saving = near_stall * (1 / near - 1 / far) + far_stall / far
    failing = survives * (near / 2 + near_recovery) + (1 - survives) * (far / 2 + far_recovery)
    return (1 - failing / mtbf) / (1 + saving)


def elastic(mtbf: Seconds, stall: Seconds, degraded: Seconds, replicas: int) -> Number:
    """Return the efficiency of going on with one replica fewer: ((M - stall - deg) + deg (n-1)/n) / M.

    M is wall clock, and the windows do not overlap. With degraded = 0 it is a restart that loses no work.

    >>> round(elastic(18, 3, 7, replicas=12), 4), round(elastic(18, 10, 0, replicas=12), 4)
    (0.8009, 0.4444)
    """
    return (mtbf - stall - degraded + degraded * (replicas - 1) / replicas) / mtbf


def effective_training_time_ratio(
    hosts: int, rate: float, interval: Seconds, stall: Seconds, recovery: Seconds
) -> Number:
    """Return Meta's first-order ratio (1 - N r (u0 + tau/2)) / (1 + d/tau) (arXiv 2410.21680).

    `rate` is per host and second. A line to compare with, not the simulator's target: at N r tau near 1 it is
    too low (0.684 against the exact 0.721 for 2,000 hosts saving hourly).
    """
    return (1 - hosts * rate * (recovery + interval / 2)) / (1 + stall / interval)
