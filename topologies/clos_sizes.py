"""How many spines and cores a folded Clos network has: as few as their ports allow, dividing the uplinks below.

The rule reproduces the counts that NVIDIA publishes for its SuperPODs, and the k-ary fat-tree of M. Al-Fares,
A. Loukissas, A. Vahdat, "A scalable, commodity data center network architecture", SIGCOMM 2008.
"""

from __future__ import annotations

import math
from functools import lru_cache

from topologies.clos import Clos

Ratios = tuple[float, float]
"""Oversubscription of leaves and of spines."""


def ratios(given: float | tuple[float, ...]) -> Ratios:
    """Return both oversubscriptions: one number holds for both, of one in a list spines have none."""
    if isinstance(given, (int, float)):
        return float(given), float(given)
    return float(given[0]), float(given[1] if len(given) > 1 else 1.0)


def radix_for(ends: int) -> int:
    """Return the ports of the smallest common switch whose three levels reach `ends`: R³/4 at most.

    >>> radix_for(16384), radix_for(131072)
    (64, 128)
    """
    radix = 64
    while radix**3 // 4 < ends:
        radix *= 2
    return radix


def sized(
    *, levels: int, radix: int, hosts: int, hosts_per_unit: int, units_per_pod: int, oversubscription: Ratios,
    nics: int, rails: int = 1, joined: bool = True, spines: int | None = None, planes: int = 1,
    uplink_rate: float = 1.0,
) -> Clos:  # fmt: skip
    """Return the fabric with as few spines and cores as their ports allow."""
    units = math.ceil(hosts / hosts_per_unit)
    units_per_pod = units_per_pod if levels == 3 else max(units, 1)
    leaf_up = hosts_per_unit * nics / rails / oversubscription[0] / uplink_rate
    leaves = units_per_pod * (rails if joined else 1)
    down_share = oversubscription[1] / (1 + oversubscription[1]) if levels == 3 else 1.0
    found, spine_up, cores = 0, 0.0, 0
    if levels > 1:
        found = spines or _spread(leaf_up, leaves * leaf_up / max(radix * down_share, 1.0))
    if levels > 2:
        spine_up = leaves * leaf_up / found / oversubscription[1]
        cores = _spread(spine_up, math.ceil(units / units_per_pod) * spine_up / radix)
    return Clos(
        hosts=hosts, nics=nics, hosts_per_unit=hosts_per_unit, units_per_pod=units_per_pod, rails=rails, joined=joined,
        leaf_up=leaf_up, spines=found, spine_up=spine_up, cores=cores, planes=planes, uplink_rate=uplink_rate,
    )  # fmt: skip


def _spread(uplinks: float, needed: float) -> int:
    """Return over how many switches to spread `uplinks` when ports ask for at least `needed` switches."""
    whole = math.ceil(uplinks - 1e-9)
    return smallest_divisor(whole, min(math.ceil(needed - 1e-9), whole))


@lru_cache(maxsize=1024)
def smallest_divisor(number: int, least: int) -> int:
    """Return the smallest divisor of `number` that is at least `least`, or `number` itself.

    Every leaf has equally many links to every spine, so that the number of spines divides a leaf's uplinks.

    >>> smallest_divisor(32, 12)
    16
    """
    small = [d for d in range(1, min(math.isqrt(max(number, 1)), 100_000) + 1) if number % d == 0]
    return min((d for d in (*small, *(number // d for d in small)) if d >= least), default=max(number, 1))
