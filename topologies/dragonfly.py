"""Dragonfly: groups of routers, all joined inside a group, every group joined to every other.

J. Kim, W. Dally, S. Scott, D. Abts, "Technology-Driven, Highly-Scalable Dragonfly Topology", ISCA 2008. A router
has p ends, a-1 local and h global links; balanced at a = 2p = 2h; at most ah+1 groups. Routes are minimal: at most
one local, one global and one local link. With fewer groups than the most, each pair has more global links.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, ClassVar

from topologies.base import Apart, Count, Topology, ends

if TYPE_CHECKING:
    import networkx as nx


@dataclass(frozen=True, kw_only=True)
class Dragonfly(Topology):
    kind: ClassVar[str] = "dragonfly"

    hosts_per_router: Count = 1
    """All NICs of a host hang on one router."""
    routers_per_group: Count | None = None
    """a; balanced (2p) where left out."""
    global_links: Count | None = None
    """h of a router; balanced (p) where left out."""

    def shape(self, hosts: int, nics: int) -> tuple[int, int, int]:
        """Return routers of a group, groups, and global links of a router."""
        routers = self.routers_per_group or 2 * self.hosts_per_router * nics
        links = self.global_links or self.hosts_per_router * nics
        groups = math.ceil(hosts / (self.hosts_per_router * routers))
        if groups > routers * links + 1:
            raise ValueError(
                f"a dragonfly of {routers} x {links} global links has {routers * links + 1} groups; this needs "
                f"{groups}; give more routers_per_group, global_links or hosts_per_router"
            )
        return routers, groups, links

    def graph(self, hosts: int, nics: int, apart: Apart = None) -> nx.Graph:
        """Return the fabric; global cables of a group go to the others in the order of their distance."""
        import networkx as nx

        graph = nx.Graph(routing="minimal")
        routers, groups, links = self.shape(hosts, nics)
        for nic, copies in ends(graph, hosts, nics, apart):
            self.join(graph, nic, ("router", nic[1] // self.hosts_per_router), "nic", links=copies)
        for group in range(groups):
            members = [("router", group * routers + router) for router in range(routers)]
            graph.add_nodes_from(members, group=group)
            for one, other in combinations(members, 2):
                self.join(graph, one, other, "local")
        cables = routers * links // (groups - 1) if groups > 1 else 0

        def router(group: int, other: int, cable: int) -> tuple[str, int]:
            return "router", group * routers + (((other - group) % groups - 1) * cables + cable) // links

        pairs = [(a, b, cable) for a, b in combinations(range(groups), 2) for cable in range(cables)]
        for (one, other), count in Counter((router(a, b, c), router(b, a, c)) for a, b, c in pairs).items():
            self.join(graph, one, other, "global", cables=count)
        return graph
