"""Folded Clos networks, worked out: leaves, spines and cores become a graph; shared by fat-trees and rails.

C. Clos, "A study of non-blocking switching networks", Bell System Technical Journal 32, 1953; C. Leiserson,
"Fat-trees", IEEE Transactions on Computers C-34, 1985.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

from topologies.base import Apart, Node, Topology, lanes, numbers

if TYPE_CHECKING:
    import networkx as nx


@dataclass(frozen=True, kw_only=True)
class Clos:
    """How many of everything.

    A *unit* is the hosts that share leaves: one leaf for all their NICs in a fat-tree, a leaf a rail where rails
    are kept apart. With several *planes* every NIC has a port in each, and each plane is a fabric of its own.
    """

    hosts: int
    nics: int
    hosts_per_unit: int
    units_per_pod: int
    rails: int
    """Leaves of a unit in one plane."""
    joined: bool
    """Whether spines join the rails."""
    leaf_up: float
    """Uplinks of a leaf; not whole where an oversubscription does not divide."""
    spines: int
    """Of a pod and plane, or of a rail of it where rails are not joined."""
    spine_up: float = 0.0
    cores: int = 0
    """That a spine reaches; spines of the same number in all pods share them."""
    planes: int = 1
    uplink_rate: float = 1.0
    """Rate of a cable above the leaves over that of a NIC's."""

    @property
    def groups(self) -> int:
        """Return the separate sets of spines in a pod."""
        return self.planes * (1 if self.joined else self.rails)

    def graph(self, topology: Topology, apart: Apart = None) -> nx.Graph:
        """Return the fabric: leaves are numbered by unit, rail and plane, spines by pod and set, cores by spine."""
        import networkx as nx

        graph, rate = nx.Graph(), self.uplink_rate / self.planes
        nics, planes, spines, cores = self._lanes(apart)

        def switch(kind: str, number: int, copies: int) -> Node:
            graph.add_node((kind, number), copies=copies)
            return kind, number

        for host, (nic, same), (plane, alike) in product(range(self.hosts), nics, planes):
            graph.add_node(("nic", host, nic), copies=same)
            rail, merged = (nic, same) if self.rails > 1 else (0, 1)
            unit = host // self.hosts_per_unit
            leaf = switch("leaf", (unit * self.rails + rail) * self.planes + plane, merged * alike)
            topology.join(graph, ("nic", host, nic), leaf, "nic", links=same * alike, rate=1 / self.planes)
            if host % self.hosts_per_unit == 0 and self.spines:
                below, merged = merged * alike, alike if self.joined else merged * alike
                group = plane if self.joined else rail * self.planes + plane
                first = (unit // self.units_per_pod * self.groups + group) * self.spines
                for number, more in spines:
                    spine = switch("spine", first + number, merged * more)
                    topology.join(
                        graph, leaf, spine, "leaf", cables=self.leaf_up / self.spines, links=below * more, rate=rate
                    )
        for spine in [node for node in graph if node[0] == "spine" and self.cores]:
            copies, place = graph.nodes[spine]["copies"], spine[1] % (self.groups * self.spines)
            for number, more in cores:
                core = switch("core", place * self.cores + number, copies * more)
                topology.join(
                    graph, spine, core, "spine", cables=self.spine_up / self.cores, links=copies * more, rate=rate
                )
        return graph

    def _lanes(self, apart: Apart) -> tuple[list[tuple[int, int]], ...]:
        """Return how NICs, planes, spines and cores are merged: all of the same number as one apart are apart."""
        counts = (self.nics, self.planes, self.spines, self.cores)
        if apart is None:
            return tuple(lanes(count, None) for count in counts)
        alone: tuple[set[int], ...] = (numbers(apart, "nic", place=2), set(), set(), numbers(apart, "core"))
        for leaf in numbers(apart, "leaf"):
            alone[0].update([leaf // self.planes % self.rails] if self.rails > 1 else [])
            alone[1].add(leaf % self.planes)
        for spine in numbers(apart, "spine") | {core // max(self.cores, 1) for core in alone[3]}:
            group = spine // max(self.spines, 1) % self.groups
            alone[0].update([] if self.joined else [group // self.planes])
            alone[1].add(group % self.planes)
            alone[2].add(spine % max(self.spines, 1))
        alone = (*alone[:3], {core % max(self.cores, 1) for core in alone[3]})
        return tuple(lanes(count, own) for count, own in zip(counts, alone, strict=True))
