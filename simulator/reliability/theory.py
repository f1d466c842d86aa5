"""Closed forms of failures and checkpoints: pure functions of seconds.

Symbols: tau useful work between saves, d what a save costs (delta), M mean time between interruptions,
R recovery that can itself be struck, D downtime that cannot, W total useful work.
"""

from __future__ import annotations

import math

from simulator.units import Seconds


def young(stall: Seconds, mtbf: Seconds) -> Seconds:
    """Return Young's interval sqrt(2 d M) (CACM 17(9), 1974, doi:10.1145/361147.361115).

    >>> young(10, 11136.0)  # Llama 3's failures and a save of 10 s
    471.93...
    """
    return math.sqrt(2 * stall * mtbf)


def daly(stall: Seconds, mtbf: Seconds) -> Seconds:
    """Return Daly's higher-order interval (FGCS 22(3), 2006, doi:10.1016/j.future.2004.11.016).

    sqrt(2dM) (1 + sqrt(d/2M)/3 + (d/2M)/9) - d for d < 2M, otherwise M.
    """
    if not math.isfinite(mtbf):
        return math.inf
    if stall >= 2 * mtbf:
        return mtbf
    ratio = stall / (2 * mtbf)
    return math.sqrt(2 * stall * mtbf) * (1 + math.sqrt(ratio) / 3 + ratio / 9) - stall


def optimal_interval(stall: Seconds, mtbf: Seconds) -> Seconds:
    """Return the exact optimum under exponential failures, M (1 + W0(-e^(-d/M - 1))); it knows no R and no D."""
    if not math.isfinite(mtbf):
        return math.inf
    return mtbf * (1 + lambert_w(-math.exp(-stall / mtbf - 1)))


def availability_interval(stall: Seconds, mtbf: Seconds, recovery: Seconds) -> Seconds:
    """Return the interval of best availability, the save excluded (Saxena et al., arXiv 2410.18124).

    sqrt(2 (M + R) d + d^2): it counts no failures in the redo, hence, unlike the exact optimum, depends on R.
    """
    return math.sqrt(2 * (mtbf + recovery) * stall + stall**2)


def lambert_w(x: float) -> float:
    """Return the principal branch of Lambert's W on [-1/e, 0]: w e^w = x, by Halley's method."""
    w = -1 + math.sqrt(max(2 * (1 + math.e * x), 0.0))
    for _ in range(50):
        error = w * math.exp(w) - x
        if w == -1 or error == 0:
            break
        step = error / (math.exp(w) * (w + 1) - (w + 2) * error / (2 * w + 2))
        w -= step
        if abs(step) <= 1e-15 * max(abs(w), 1e-9):
            break
    return w
