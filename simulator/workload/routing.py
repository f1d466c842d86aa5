"""On how many ranks and hosts the experts of one token are.

A token goes to `active` different experts of `count`. With node-limited routing these come from at most `limit` of
`groups` equal groups of neighbouring experts (DeepSeek-V3, arXiv 2412.19437, section 2.1.2: 4 of 8). Which groups and
which experts is taken as even: no expert is more likely than another. A block of `size` neighbouring experts, x of
which are in the chosen groups with E experts together, is missed with probability C(E - x, active) / C(E, active).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from math import exp, inf, lgamma
from typing import NamedTuple

from simulator.units import Count, Share


class Routing(NamedTuple):
    """How a router chooses the experts of a token."""

    experts: Count
    active: Count
    groups: Count = 1
    limit: Count = 1
    """Groups that the experts of one token may be in."""

    def places(self, size: Count) -> float:
        """Return how many blocks of `size` neighbouring experts hold at least one expert of a token, on average.

        >>> Routing(experts=8, active=2).places(1), round(Routing(experts=256, active=8).places(32), 2)
        (2.0, 5.3)
        >>> Routing(experts=256, active=8, groups=8, limit=1).places(32)
        1.0
        """
        return _places(self, size)


@lru_cache(maxsize=4096)
def _places(routing: Routing, size: Count) -> float:
    starts = range(0, routing.experts, size)
    return sum(1 - _missed(routing, *_cut(routing, start, min(start + size, routing.experts))) for start in starts)


def _cut(routing: Routing, start: Count, end: Count) -> tuple[Count, tuple[Count, ...]]:
    """Return how many whole groups a block of experts holds, and how many experts of groups it holds in part."""
    group = routing.experts // routing.groups
    first, last = -(-start // group), end // group
    if first > last:
        return 0, (end - start,)
    edges = (first * group - start, end - last * group)
    return last - first, tuple(edge for edge in edges if edge)


@lru_cache(maxsize=4096)
def _missed(routing: Routing, whole: Count, edges: tuple[Count, ...]) -> Share:
    """Return the probability that no expert of a token is among `whole` groups and `edges`, parts of other groups."""
    group, limit = routing.experts // routing.groups, routing.limit
    elsewhere = routing.groups - whole - len(edges)
    everywhere = _log_choose(routing.groups, limit)
    missed = 0.0
    for taken, inside in _subsets(edges):
        for chosen in range(min(whole, limit - taken) + 1):
            ways = _log_choose(whole, chosen) + _log_choose(elsewhere, limit - taken - chosen)
            missed += exp(ways - everywhere + _log_passed_over(routing, limit * group, inside + chosen * group))
    return min(1.0, missed)


def _subsets(edges: tuple[Count, ...]) -> Iterator[tuple[Count, Count]]:
    """Yield the number and the sum of each subset of at most two numbers."""
    yield 0, 0
    for edge in edges:
        yield 1, edge
    if len(edges) > 1:
        yield 2, sum(edges)


def _log_passed_over(routing: Routing, among: Count, size: Count) -> float:
    """Return the logarithm of the probability that `size` of the experts `among` which a token chooses get nothing."""
    return _log_choose(among - size, routing.active) - _log_choose(among, routing.active)


def _log_choose(total: Count, chosen: Count) -> float:
    """Return the logarithm of the ways to choose so many of a total; minus infinity where there are none."""
    if not 0 <= chosen <= total:
        return -inf
    return lgamma(total + 1) - lgamma(chosen + 1) - lgamma(total - chosen + 1)
