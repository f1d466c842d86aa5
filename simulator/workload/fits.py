"""Does it fit: the chance that a predicted peak runs on a device, and the verdict.

A run dies above a share of the usable memory that differs from run to run with fragmentation, imbalance and what
the prediction leaves out. On 300 layouts that ran or died on A100s the chance of dying is a logistic curve in
ln(peak / usable) with centre 0.915 and scale 0.076. Chunks of an interleaved pipeline free blocks of many ages; an
allocator without expandable segments could not use them in a run that died with 58.8 GB of 80 allocated, so there
the chance reaches 20% at 0.73 already. Where the prediction is less sure than those were, its range widens the curve.
"""

from __future__ import annotations

from math import exp, log, pi
from typing import Literal

from simulator.units import Bytes, Share

CENTRE = 0.915
SCALE = 0.076
FRAGMENTED = 0.73
"""Share of usable memory at which interleaving without expandable segments turns tight."""
TIGHT = (0.2, 0.8)
KNOWN = 0.08
"""Half the range of predictions with a known profile, which the scale contains already."""


def chance(peak: Bytes, usable: Bytes, *, fragments: bool = False, half_range: Share = KNOWN) -> Share:
    """Return P(fits) of `peak` bytes on a device with `usable` bytes.

    `half_range` is half the range of the prediction, relative to it. What exceeds that of a known profile adds as a
    variance; a logistic of scale c has a standard deviation of c pi / sqrt(3), and half a range is taken as one.

    >>> round(chance(0.915e9, 1e9), 3), round(chance(0.73e9, 1e9, fragments=True), 3)
    (0.5, 0.8)
    """
    centre = FRAGMENTED * exp(SCALE * log(TIGHT[1] / TIGHT[0])) if fragments else CENTRE
    scale = (SCALE**2 + 3 * max(half_range**2 - KNOWN**2, 0.0) / pi**2) ** 0.5
    over = (log(max(peak, 1.0) / usable) - log(centre)) / scale
    return 1 / (1 + exp(min(over, 700.0)))


def verdict(p_fits: Share) -> Literal["fits", "tight", "oom"]:
    """Return the verdict of a chance: tight between one and four in five."""
    if p_fits < TIGHT[0]:
        return "oom"
    return "fits" if p_fits > TIGHT[1] else "tight"
