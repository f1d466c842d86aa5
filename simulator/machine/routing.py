"""Which way traffic takes from one switch to another, found on the graph of a fabric by networkx.

``graph.graph["routing"]`` names the rule. ``shortest``, the rule where none is named: all shortest ways.
``dimension-order``: on a grid one dimension after the other, the shorter way round (W. Dally and B. Towles, 2004,
section 8.4). ``minimal``: a local link, one of the links between two groups, a local link (J. Kim et al., ISCA 2008).
Where a fault has cut what the rule asks for, the shortest ways that are left are taken.

A switch divides what it passes on over the next hops. Static routing does so equally over cables (ECMP); adaptive
routing in proportion to their bandwidth, of which counts what a fault has ``left`` of the narrowest edge ahead.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from simulator.units import Seconds, Share
from topologies.base import Node

if TYPE_CHECKING:
    import networkx as nx


MOST_KEPT = 1_000_000
"""Predecessors that are remembered, for all sources together."""


class Ways(NamedTuple):
    """What traffic from one switch to another crosses."""

    shares: Mapping[tuple[Node, Node], Share]
    """Directed edges, and what part of the traffic crosses each."""
    latency: Seconds
    """Of the longest way."""


class Routes:
    """The ways through a fabric, from switch to switch."""

    def __init__(self, graph: nx.Graph, ends: Collection[Node], *, adaptive: bool) -> None:
        """Take the switches of a fabric; `ends` are those between which ways will be asked for."""
        self._graph = graph
        self._ends = ends
        self._adaptive = adaptive
        self._rule = graph.graph.get("routing", "shortest")
        self._before: dict[Node, dict[Node, list[Node]]] = {}
        """For sources, the predecessors on the shortest ways to all ends."""
        self._at = {place: node for node, place in graph.nodes(data="place")}
        self._joins: dict[tuple[int, int], list[tuple[Node, Node]]] = {}
        """Links from one group to another."""
        for one, other in graph.edges if self._rule == "minimal" else ():
            groups = graph.nodes[one]["group"], graph.nodes[other]["group"]
            if groups[0] != groups[1]:
                self._joins.setdefault(groups, []).append((one, other))
                self._joins.setdefault(groups[::-1], []).append((other, one))

    def between(self, source: Node, target: Node) -> Ways:
        """Return the ways between two switches that some edges join."""
        if self._rule == "dimension-order" and (path := self._by_dimension(source, target)):
            return self._along([(path, 1.0)])
        if self._rule == "minimal" and (paths := self._minimal(source, target)):
            return self._along(paths)
        return self._shortest(source, target)

    def _by_dimension(self, source: Node, target: Node) -> list[Node] | None:
        """Return the path on a grid; None where an edge of it is gone."""
        here, there = (list(self._graph.nodes[node]["place"]) for node in (source, target))
        path = [source]
        for dimension, length in enumerate(self._graph.graph["shape"]):
            distance = (there[dimension] - here[dimension]) % length
            step = 1 if distance <= length / 2 else -1
            for _ in range(min(distance, length - distance)):
                here[dimension] = (here[dimension] + step) % length
                path.append(self._at[tuple(here)])
        return path if all(self._graph.has_edge(*hop) for hop in pairwise(path)) else None

    def _minimal(self, source: Node, target: Node) -> list[tuple[Sequence[Node], float]]:
        """Return the paths over each link between two groups, with its weight; none where there is no such link."""
        groups = (self._graph.nodes[source]["group"], self._graph.nodes[target]["group"])
        if groups[0] == groups[1]:
            return [(self._path(source, target), 1.0)]
        found: list[tuple[Sequence[Node], float]] = []
        for leave, enter in self._joins.get(groups, ()):
            path = [*self._path(source, leave), *self._path(enter, target)]
            edge = self._graph.edges[leave, enter]
            found.append((path, edge["bandwidth" if self._adaptive else "count"]))
        return found

    def _path(self, source: Node, target: Node) -> Sequence[Node]:
        import networkx as nx

        if source == target:
            return (source,)
        if self._graph.has_edge(source, target):
            return source, target
        path: list[Node] = nx.shortest_path(self._graph, source, target)
        return path

    def _along(self, paths: Sequence[tuple[Sequence[Node], float]]) -> Ways:
        """Return the ways along some paths, in proportion to their weights."""
        whole = math.fsum(weight for _, weight in paths)
        shares: dict[tuple[Node, Node], float] = {}
        for path, weight in paths:
            for hop in pairwise(path):
                shares[hop] = shares.get(hop, 0.0) + weight / whole
        edges = self._graph.edges
        return Ways(shares, max(math.fsum(edges[hop]["latency"] for hop in pairwise(path)) for path, _ in paths))

    def _shortest(self, source: Node, target: Node) -> Ways:
        """Return all shortest ways; switches with one neighbour are left out, where no way passes through."""
        start, stop = self._inner(source), self._inner(target)
        shares, latency = self._inside(start, stop)
        for hop in ((source, start), (stop, target)):
            if hop[0] != hop[1]:
                shares[hop] = 1.0
                latency += self._graph.edges[hop]["latency"]
        return Ways(shares, latency)

    def _inner(self, switch: Node) -> Node:
        """Return a switch, or the only neighbour of one that hangs on it."""
        if self._graph.degree(switch) != 1:
            return switch
        neighbour = next(iter(self._graph[switch]))
        return neighbour if self._graph.degree(neighbour) > 1 else switch

    @cached_property
    def _core(self) -> nx.Graph:
        """Return the switches that ways pass through."""
        return self._graph.subgraph([node for node in self._graph if self._inner(node) == node]).copy()

    def _inside(self, source: Node, target: Node) -> tuple[dict[tuple[Node, Node], Share], Seconds]:
        """Return shares and latency of the shortest ways: found back from the target, shared out from the source on."""
        predecessors = self._predecessors(source)
        left: dict[Node, Share] = {target: 1.0}
        """What faults have left of the ways from a switch to the target."""
        latency: dict[Node, Seconds] = {target: 0.0}
        hops: list[dict[Node, dict[Node, float]]] = []
        ahead = [target]
        while ahead != [source]:
            onward: dict[Node, dict[Node, float]] = {}
            for node in ahead:
                for before in predecessors[node]:
                    edge = self._graph.edges[before, node]
                    onward.setdefault(before, {})[node] = self._weight(edge, left[node])
                    latency[before] = max(latency.get(before, 0.0), edge["latency"] + latency[node])
            for node, weights in onward.items():
                nominal = math.fsum(self._weight(self._graph.edges[node, after], None) for after in weights)
                left[node] = math.fsum(weights.values()) / nominal
            hops.append(onward)
            ahead = list(onward)
        shares: dict[tuple[Node, Node], Share] = {}
        arriving: dict[Node, Share] = {source: 1.0}
        for onward in reversed(hops):
            leaving: dict[Node, Share] = {}
            for node, share in arriving.items():
                whole = math.fsum(onward[node].values())
                for after, weight in onward[node].items():
                    shares[node, after] = share * weight / whole
                    leaving[after] = leaving.get(after, 0.0) + shares[node, after]
            arriving = leaving
        return shares, latency[source]

    def _predecessors(self, source: Node) -> dict[Node, list[Node]]:
        """Return for every switch on a shortest way from `source` to an end those that come before it."""
        import networkx as nx

        if source not in self._before:
            found = nx.predecessor(self._core, source)
            open_ = [inner for end in self._ends if (inner := self._inner(end)) in found]
            kept: dict[Node, list[Node]] = {}
            while open_:
                node = open_.pop()
                if node not in kept:
                    kept[node] = found[node]
                    open_ += found[node]
            if len(self._before) * len(kept) > MOST_KEPT:
                self._before.clear()
            self._before[source] = kept
        return self._before[source]

    def _weight(self, edge: Mapping[str, Any], ahead: Share | None) -> float:
        """Return the weight of a next hop of whose ways faults have left a share; None asks for the healthy one."""
        if not self._adaptive:
            return float(edge["count"])
        left = edge.get("left", 1.0)
        return float(edge["bandwidth"] / left * (1.0 if ahead is None else min(left, ahead)))
