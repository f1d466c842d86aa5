"""Does it fit: the chance that a predicted peak runs on a device, and the verdict.

The chance of running out is a logistic curve in ln(need / usable). Need is the peak, and without expandable
segments a fifth more of what comes and goes within a step: the allocator cannot join freed blocks of different
sizes, while weights and optimizer state, allocated once, stay packed. Both were read from 300 layouts of 13B and
30B models that ran or died on A100s: those whose memory was state ran up to 0.97 of usable, those whose memory was
activations died from 0.83 on (Hagemann et al., 2023, arXiv 2311.05610). Chunks of an interleaved pipeline leave
blocks of many ages; a run without expandable segments died with 58.8 GB of 80 allocated (Megatron-Bridge), so
there the chance of running out reaches 20% at 0.73 already. A profile that is less sure than those widens the curve.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, log, pi
from typing import Literal

from simulator.sums import added
from simulator.units import Bytes, Number, Share

CENTRE = 0.97
SCALE = 0.076
FRAGMENTATION = 0.2
"""What the allocator loses without expandable segments, over what comes and goes within a step."""
INTERLEAVED = 0.73
"""Share of usable memory at which interleaving without expandable segments turns tight."""
TIGHT = (0.2, 0.8)
KNOWN = 0.08
"""Spread of predictions with a known profile, which the scale contains already."""
OTHERWISE = 1 / 3
"""Weight of the chances with an unknown switch set the other way than the profile has it."""


def chance(
    peak: Bytes,
    usable: Bytes,
    *,
    moving: Bytes = 0.0,
    expandable: bool = True,
    chunks: int = 1,
    spread: Share = KNOWN,
) -> Share:
    """Return P(fits) of `peak` bytes, `moving` of which come and go, on a device with `usable` bytes.

    `spread` is half the range of the profile's predictions. What exceeds that of a known profile adds as a variance;
    a logistic of scale c has a standard deviation of c pi / sqrt(3), and half a range is taken as one.

    >>> round(chance(0.97e9, 1e9), 3), round(chance(0.73e9, 1e9, expandable=False, chunks=2), 3)
    (0.5, 0.8)
    """
    scale = (SCALE**2 + 3 * max(spread**2 - KNOWN**2, 0.0) / pi**2) ** 0.5
    if expandable:
        return _below(peak / usable, CENTRE, scale)
    fragmented = _below((peak + FRAGMENTATION * moving) / usable, CENTRE, scale)
    if chunks == 1:
        return fragmented
    return min(fragmented, _below(peak / usable, INTERLEAVED * exp(SCALE * log(TIGHT[1] / TIGHT[0])), scale))


def over_switches(chance: Share, others: Sequence[Share]) -> Share:
    """Return the chance where switches are unknown, `others` being the chances with one of them the other way.

    Two settings make two peaks, not one broad one, so chances are averaged and not bytes.

    >>> over_switches(0.0, (1.0, 0.0))
    0.16666666666666666
    """
    return (1 - OTHERWISE) * chance + OTHERWISE * added(others) / len(others) if others else chance


def _below(need: Number, centre: Number, scale: Number) -> Share:
    return 1 / (1 + exp(min((log(max(need, 1e-12)) - log(centre)) / scale, 700.0)))


def verdict(p_fits: Share) -> Literal["fits", "tight", "oom"]:
    """Return the verdict of a chance: tight between one and four in five."""
    if p_fits < TIGHT[0]:
        return "oom"
    return "fits" if p_fits > TIGHT[1] else "tight"
