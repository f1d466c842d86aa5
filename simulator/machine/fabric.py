"""A fabric as arrays: what flows between hosts put on each of its links, all at once.

Links are directed: edge i of the graph one way is link i, the other way link i + the number of edges; edges are in the
order of their tiers, NICs first. Traffic between two hosts is divided over the rails that both have and that are
joined, and keeps to its rail. Ways are found once for every pair of *kinds* of switches: switches with the same edges
to the same neighbours have the same ways on from there, so that cost grows with what is different.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from simulator.errors import InfeasibleError
from simulator.machine.routing import Routes
from simulator.machine.traffic import Floats, Flows, Groups, Whole
from simulator.units import Count, Seconds
from topologies.base import ENDS, Node

if TYPE_CHECKING:
    import networkx as nx

FROM, TO = -1, -2
"""The two ends of a way, in place of the switches of a certain pair."""


class Rail(NamedTuple):
    """The NICs of one number, one for each host; -1 where a host has none."""

    copies: Count
    """NICs of a host that each stands for."""
    end: Whole
    """The vertex of the NIC."""
    switch: Whole
    """Where ways begin: the switch that a NIC hangs on; the NIC itself where it hangs on several."""
    part: Whole
    """Of the fabric: what has the same number is joined."""
    delay: Floats
    """Latency of the NIC's cable."""


class Way(NamedTuple):
    """What traffic from one switch to another crosses: edges by their ends, and the share of it on each."""

    source: list[int]
    target: list[int]
    share: list[float]
    latency: Seconds


class Fabric:
    """The graph of a fabric, with arrays for what is asked of it again and again."""

    def __init__(self, graph: nx.Graph, hosts: Count, *, adaptive: bool = True) -> None:
        self.graph = graph
        self.hosts = hosts
        self.nodes: list[Node] = list(graph)
        self._numbers = {node: number for number, node in enumerate(self.nodes)}
        tiers = list(dict.fromkeys(tier for *_, tier in graph.edges(data="tier")))
        edges = list(graph.edges(data=True))
        edges.sort(key=lambda edge: (edge[2]["tier"] != "nic", tiers.index(edge[2]["tier"])))
        one, other = (np.array([self._numbers[edge[end]] for edge in edges], dtype=np.int64) for end in (0, 1))
        pairs = np.concatenate([one * len(graph) + other, other * len(graph) + one])
        self._order = np.argsort(pairs)
        self._pairs = pairs[self._order]
        self.tiers = [edge["tier"] for *_, edge in edges] * 2
        self.capacity: Floats = np.array([edge["bandwidth"] for *_, edge in edges] * 2)
        self.cables = np.array([edge["count"] for *_, edge in edges] * 2, dtype=np.int64)
        self._hanging = {node for node in graph if node[0] in ENDS and graph.degree(node) == 1}
        switches = graph.subgraph([node for node in graph if node not in self._hanging]).copy()
        self._kinds = self._alike(switches)
        self._routes = Routes(switches, [node for two in self._two.values() for node in two], adaptive=adaptive)
        self._ways: dict[int, Way] = {}

    def _alike(self, switches: nx.Graph) -> Whole:
        """Return the kind of each vertex; where routing asks for the place of a switch, each is one of its own."""
        kinds = np.full(len(self.nodes), -1)
        known: dict[object, int] = {}
        self._two: dict[int, list[Node]] = {}
        """Of each kind one or two switches, between which ways are found for all."""
        for node in switches:
            edges = frozenset((other, edge["bandwidth"], edge["count"]) for other, edge in switches[node].items())
            alike = (edges, switches.nodes[node].get("copies")) if "routing" not in switches.graph else node
            kind = kinds[self._numbers[node]] = known.setdefault(alike, len(known))
            self._two[kind] = [*self._two.get(kind, []), node][:2]
        return kinds

    def link(self, source: Whole, target: Whole) -> Whole:
        """Return the links from vertices to their neighbours."""
        return self._order[np.searchsorted(self._pairs, source * len(self.nodes) + target)]

    def back(self, links: Whole) -> Whole:
        """Return the same links the other way."""
        return (links + len(self.capacity) // 2) % len(self.capacity)

    @cached_property
    def rails(self) -> list[Rail]:
        """Return the NICs of all hosts, rail by rail."""
        import networkx as nx

        parts = {node: number for number, part in enumerate(nx.connected_components(self.graph)) for node in part}
        nics: dict[int, list[Node]] = {}
        for node in self.nodes:
            if node[0] in ENDS:
                nics.setdefault(node[2], []).append(node)
        return [self._rail(rail, parts) for _, rail in sorted(nics.items())]

    def _rail(self, nics: list[Node], parts: dict[Node, int]) -> Rail:
        place = [nic[1] for nic in nics]
        end, switch, part = (np.full(self.hosts, -1) for _ in range(3))
        delay = np.zeros(self.hosts)
        cables = [next(iter(self.graph[nic].items())) for nic in nics]
        end[place] = [self._numbers[nic] for nic in nics]
        switch[place] = [
            self._numbers[other if nic in self._hanging else nic] for nic, (other, _) in zip(nics, cables, strict=True)
        ]
        part[place] = [parts[nic] for nic in nics]
        delay[place] = [edge["latency"] for _, edge in cables]
        return Rail(self.graph.nodes[nics[0]].get("copies", 1), end, switch, part, delay)

    def _by_rail(self, flows: Flows) -> Iterator[tuple[Rail, Flows]]:
        """Yield what each rail carries of some flows; raise InfeasibleError where none joins two hosts."""
        joined = [
            (rail.end[flows.source] >= 0) & (rail.part[flows.source] == rail.part[flows.target]) for rail in self.rails
        ]
        width = sum(
            (rail.copies * on for rail, on in zip(self.rails, joined, strict=True)), np.zeros(len(flows.source))
        )
        if not np.all(width):
            lost = int(np.argmin(width))
            raise InfeasibleError(f"no cables lead from host {flows.source[lost]} to host {flows.target[lost]}")
        for rail, on in zip(self.rails, joined, strict=True):
            yield rail, Flows(flows.source[on], flows.target[on], (flows.amount * rail.copies / width)[on])

    def loads(self, flows: Flows) -> Floats:
        """Return what each link carries; raise InfeasibleError where nothing joins two hosts."""
        found = np.zeros(len(self.capacity))
        for rail, (source, target, amount) in self._by_rail(flows):
            for hosts, upwards in ((source, True), (target, False)):
                hangs = rail.end[hosts] != rail.switch[hosts]
                up = self.link(rail.end[hosts[hangs]], rail.switch[hosts[hangs]])
                found += np.bincount(up if upwards else self.back(up), amount[hangs], len(found))
            here, there = rail.switch[source], rail.switch[target]
            away = here != there
            found += self._between(here[away], there[away], amount[away])
        return found

    def _between(self, source: Whole, target: Whole, amount: Floats) -> Floats:
        """Return what flows between different switches put on each link."""
        ways, which = self._ways_of(source, target)
        lengths = np.array([len(way.share) for way in ways], dtype=np.int64)
        length, begin = lengths[which], (np.cumsum(lengths) - lengths)[which]
        hop = np.arange(length.sum()) - np.repeat(np.cumsum(length) - length - begin, length)
        """Of each flow all hops, one after the other, as places in those of all ways."""
        here = np.array([node for way in ways for node in way.source], dtype=np.int64)[hop]
        there = np.array([node for way in ways for node in way.target], dtype=np.int64)[hop]
        here = np.where(here == FROM, np.repeat(source, length), here)
        there = np.where(there == TO, np.repeat(target, length), there)
        share = np.array([share for way in ways for share in way.share])[hop]
        sent = np.repeat(amount, length) * share
        return np.bincount(self.link(here, there), sent, len(self.capacity)).astype(np.float64)

    def _ways_of(self, source: Whole, target: Whole) -> tuple[list[Way], Whole]:
        """Return the different ways that pairs of switches have, and which of them each pair has."""
        kinds = self._kinds[source] * len(self.nodes) + self._kinds[target]
        different, which = np.unique(kinds, return_inverse=True)
        for kind in different.tolist():
            if kind not in self._ways:
                first, second = (self._two[part] for part in divmod(kind, len(self.nodes)))
                self._ways[kind] = self._way(first[0], second[first is second])
        return [self._ways[kind] for kind in different.tolist()], which

    def _way(self, source: Node, target: Node) -> Way:
        ways, numbers = self._routes.between(source, target), self._numbers
        return Way(
            source=[FROM if hop[0] == source else numbers[hop[0]] for hop in ways.shares],
            target=[TO if hop[1] == target else numbers[hop[1]] for hop in ways.shares],
            share=list(ways.shares.values()),
            latency=ways.latency,
        )

    def latency(self, flows: Flows) -> Seconds:
        """Return that of the longest way: each cable but the last, with the switch that it leads to."""
        worst = 0.0
        for rail, (source, target, _) in self._by_rail(flows):
            here, there = rail.switch[source], rail.switch[target]
            delay = np.where(here == rail.end[source], 0.0, rail.delay[source])
            delay -= np.where(there == rail.end[target], rail.delay[target], 0.0)
            away = here != there
            ways, which = self._ways_of(here[away], there[away])
            delay[away] += np.array([way.latency for way in ways])[which]
            worst = max(worst, float(delay.max(initial=0.0)))
        return worst

    def exchange(self, groups: Groups) -> Floats:
        """Return what each link carries when every rank of each group sends 1/ranks to every rank of it.

        On a tree each edge carries what one side of it has for the other; elsewhere it is taken pair by pair.
        """
        found = np.zeros(len(self.capacity))
        if self._above is None:
            return sum((self.loads(flows) for flows in groups.exchange()), found)
        copies = sum(rail.copies for rail in self.rails)
        for rail in self.rails:
            entry, vertex, below = np.arange(len(groups.host)), rail.end[groups.host], []
            while len(entry):
                entry, vertex = entry[self._above[vertex] >= 0], vertex[self._above[vertex] >= 0]
                below.append((entry, vertex))
                vertex = self._above[vertex]
            entry, vertex = (np.concatenate(part) for part in zip(*below, strict=True))
            for child, crossing in groups.crossing(entry, vertex):
                up = self.link(child, self._above[child])
                for links in (up, self.back(up)):
                    found += np.bincount(links, crossing * rail.copies / copies, len(found))
        return found

    @cached_property
    def _above(self) -> Whole | None:
        """Return the next vertex towards the top of its tree for each, -1 at a top; None for a fabric with cycles.

        None too where rails differ in the hosts that they join.
        """
        import networkx as nx

        if any(np.any(rail.part != rail.part[0]) for rail in self.rails) or not nx.is_forest(self.graph):
            return None
        above, seen = np.full(len(self.nodes), -1), set[Node]()
        for top in reversed(self.nodes):
            if top not in seen:
                found = dict(nx.bfs_predecessors(self.graph, top))
                seen.update(found, [top])
                above[[self._numbers[node] for node in found]] = [self._numbers[node] for node in found.values()]
        return above
