"""What hash collisions cost: flows hashed onto equal-cost links (ECMP), the fullest link deciding.

A synchronous collective ends with its slowest flow. The number of flows on one of m links is close to Poisson
with mean F/m; the fullest of m has the distribution P(max <= x) = P(one <= x)^m. A Monte Carlo of F = m = 32
gives a share of 0.30, 0.38, 0.47, 0.56, 0.65, 0.73 of a link for 1, 2, 4, 8, 16, 32 queue pairs a flow. Meta found
up to 40% more all-reduce bandwidth from more queue pairs (SIGCOMM 2024); adaptive routing comes close to 1.
"""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, NamedTuple

from simulator.sums import added
from simulator.units import BytesPerSecond, Count, Number, Share
from topologies.base import ENDS

if TYPE_CHECKING:
    import networkx as nx


@lru_cache(maxsize=4096)
def distribution(flows: int, links: int, queue_pairs: int = 1) -> tuple[tuple[Share, Share], ...]:
    """Return what a flow gets of a link when `flows` are hashed onto `links`, and how likely: (share, probability).

    Each flow is split into `queue_pairs` parts that are hashed on their own.
    """
    mean = flows * queue_pairs / max(links, 1)
    if links <= 1 or flows <= 0 or mean >= 700:
        return ((min(1.0, links / max(flows, 1)), 1.0),)
    term = below = math.exp(-mean)
    nobody = before = below**links
    found, number = [], 0
    while before < 1 - 1e-12 and number < 10 * mean + 100:
        number += 1
        term *= mean / number
        below += term
        now = min(1.0, below) ** links
        if now > before:
            found.append((min(1.0, queue_pairs / number), (now - before) / (1 - nobody)))
        before = now
    return tuple(found)


def share(flows: int, links: int, queue_pairs: int = 1) -> Share:
    """Return the mean share of a link that a flow gets."""
    return added(share * chance for share, chance in distribution(flows, links, queue_pairs))


def quantile(flows: int, links: int, queue_pairs: int, luck: Share) -> Share:
    """Return the share of a link that a flow gets at most with this probability: little luck, little of the link."""
    ordered = sorted(distribution(flows, links, queue_pairs))
    below = accumulate(chance for _, chance in ordered)
    return next((share for (share, _), so_far in zip(ordered, below, strict=True) if so_far >= luck), ordered[-1][0])


@lru_cache(maxsize=4096)
def efficiency(flows: int, links: int, queue_pairs: int = 1, luck: Share | None = None) -> Share:
    """Return the share with hashing over the share with perfect spreading, in the mean or with some luck."""
    found = share(flows, links, queue_pairs) if luck is None else quantile(flows, links, queue_pairs, luck)
    return min(1.0, found / min(1.0, links / max(flows, 1)))


class Choices(NamedTuple):
    """What a flow may be hashed onto at one tier."""

    links: Count
    """Links of a NIC's rate."""
    cables: Number


def choices(graph: nx.Graph, rate: BytesPerSecond) -> dict[str, Choices]:
    """Return what a flow of one NIC may be hashed onto at each tier where several switches lead on.

    On a folded fabric switches that are alike are merged: their copies are what there is to choose from. Elsewhere it
    is every switch that is nearer to the other end. Grids and dragonflies have one way.
    """
    import networkx as nx

    ends = [node for node in graph if node[0] in ENDS]
    shortest = graph.graph.get("routing", "shortest") == "shortest"
    left = nx.single_source_shortest_path_length(graph, ends[-1])
    found: dict[str, Choices] = {}
    reached = 1.0
    """Of the copies of a vertex, those that lead on from one NIC."""
    for one, other in list(pairwise(nx.shortest_path(graph, ends[0], ends[-1])))[1:-1]:
        tier, share = graph.edges[one, other]["tier"], reached / graph.nodes[one].get("copies", 1)
        if tier in found:
            break
        onward = [node for node in graph[one] if left[node] < left[one]] if shortest else [other]
        edges = [graph.edges[one, node] for node in onward]
        reached = added(
            min(graph.nodes[node].get("copies", 1), share * edge.get("links", 1))
            for node, edge in zip(onward, edges, strict=True)
        )
        if reached > 1:
            bandwidth, count = (added(edge[key] for edge in edges) for key in ("bandwidth", "count"))
            found[tier] = Choices(max(1, round(share * bandwidth / rate)), share * count)
    return found
