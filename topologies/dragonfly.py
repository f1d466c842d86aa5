"""Dragonfly: groups of routers, all joined inside a group, every group joined to every other.

J. Kim, W. Dally, S. Scott, D. Abts, "Technology-Driven, Highly-Scalable Dragonfly Topology", ISCA 2008. A router
has p ends, a-1 local and h global links; balanced at a = 2p = 2h; at most ah+1 groups. Routes are minimal: at most
one local, one global and one local link. With fewer groups than the most, each pair has more global links.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, ClassVar

from topologies.base import Bundle, Count, Counts, Topology, ends, numbered

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

    def shape(self, hosts: int, nics_per_host: int) -> tuple[int, int, int, int]:
        """Return routers a group, global links a router, groups, and global links of a pair of groups."""
        ends_per_router = self.hosts_per_router * nics_per_host
        routers = self.routers_per_group or 2 * ends_per_router
        links = self.global_links or ends_per_router
        groups = math.ceil(hosts / (self.hosts_per_router * routers))
        if groups > routers * links + 1:
            most = routers * links + 1
            raise ValueError(
                f"a dragonfly of {routers} x {links} global links has {most} groups; this needs {groups}; give more "
                f"routers_per_group, global_links or hosts_per_router"
            )
        return routers, links, groups, routers * links // (groups - 1) if groups > 1 else 0

    def counts(self, hosts: int, gpus_per_host: int, nics_per_host: int) -> Counts:
        routers, links, groups, pair = self.shape(hosts, nics_per_host)
        ports = self.hosts_per_router * nics_per_host + routers - 1 + links
        return Counts(
            switches={"router": groups * routers},
            cables={
                "nic-router": hosts * nics_per_host,
                "local": groups * routers * (routers - 1) // 2,
                "global": groups * (groups - 1) // 2 * pair,
            },
            diameter=5 if groups > 1 else 3,
            ports={"router": ports},
        )

    def bisection_bandwidth(self, hosts: int, gpus_per_host: int, nics_per_host: int) -> float:
        routers, _, groups, pair = self.shape(hosts, nics_per_host)
        if groups == 1:
            return (routers // 2) * (routers - routers // 2) * self.bandwidth
        return (groups // 2) * (groups - groups // 2) * pair * self.bandwidth

    def bundles(self, source: int, destination: int, hosts: int, nics_per_host: int) -> Iterator[tuple[Bundle, float]]:
        if source == destination:
            return
        yield Bundle("nic", (source,)), 1.0
        yield Bundle("nic", (destination,), False), 1.0
        start, stop = source // self.hosts_per_router, destination // self.hosts_per_router
        paths = _paths(start, stop, *self.shape(hosts, nics_per_host))
        for path in paths:
            for link in pairwise(path):
                yield Bundle("link", link), 1.0 / len(paths)

    def capacity(self, bundle: Bundle, hosts: int, nics_per_host: int) -> float:
        if bundle.tier == "nic":
            return nics_per_host * self.bandwidth
        first, second = bundle.at
        routers, links, groups, pair = self.shape(hosts, nics_per_host)
        return self.bandwidth * (
            1 if first // routers == second // routers else _joins(routers, links, groups, pair)[first, second]
        )

    def link(self, one: str, other: str) -> tuple[int, int]:
        return numbered(one, "router"), numbered(other, "router")

    def switches_crossed(self, source: int, destination: int, hosts: int, nics_per_host: int) -> int:
        if source == destination:
            return 0
        start, stop = source // self.hosts_per_router, destination // self.hosts_per_router
        return max(len(path) for path in _paths(start, stop, *self.shape(hosts, nics_per_host)))

    def graph(self, hosts: int, gpus_per_host: int, nics_per_host: int) -> nx.Graph:
        import networkx as nx

        graph = nx.Graph()
        routers, links, groups, pair = self.shape(hosts, nics_per_host)
        wire = {"latency": self.latency}
        for nic in ends(hosts, nics_per_host):
            router = ("router", nic[1] // self.hosts_per_router)
            graph.add_edge(nic, router, bandwidth=self.bandwidth, count=1, tier="nic", **wire)
        for group in range(groups):
            for one, other in combinations(range(group * routers, (group + 1) * routers), 2):
                graph.add_edge(
                    ("router", one), ("router", other), bandwidth=self.bandwidth, count=1, tier="local", **wire
                )
        for (one, other), count in _joins(routers, links, groups, pair).items():
            graph.add_edge(
                ("router", one),
                ("router", other),
                bandwidth=self.bandwidth * count,
                count=count,
                tier="global",
                **wire,
            )
        return graph

    def routes(self, graph: nx.Graph, source: Hashable, destination: Hashable) -> list[list[Hashable]]:
        """Return the minimal routes, one a global link of the pair of groups."""
        hosts = 1 + max(node[1] for node in graph if node[0] == "nic")
        nics = 1 + max(node[2] for node in graph if node[0] == "nic")
        assert isinstance(source, tuple)
        assert isinstance(destination, tuple)
        start, stop = (end[1] // self.hosts_per_router for end in (source, destination))
        paths = _paths(start, stop, *self.shape(hosts, nics))
        return [[source, *(("router", router) for router in path), destination] for path in paths]


@lru_cache(maxsize=16)
def _joins(routers: int, links: int, groups: int, pair: int) -> dict[tuple[int, int], int]:
    """Return the cables between two routers of different groups, in both orders."""
    joins: dict[tuple[int, int], int] = {}
    for one, other in combinations(range(groups), 2):
        for cable in range(pair):
            ends = (_router(one, other, cable, links, groups, pair, routers),
                    _router(other, one, cable, links, groups, pair, routers))  # fmt: skip
            for link in (ends, ends[::-1]):
                joins[link] = joins.get(link, 0) + 1
    return joins


def _router(group: int, other: int, cable: int, links: int, groups: int, pair: int, routers: int) -> int:
    """Return the router of `group` that holds cable number `cable` to group `other`: cables in order of distance."""
    distance = (other - group) % groups
    return group * routers + ((distance - 1) * pair + cable) // links


@lru_cache(maxsize=65536)
def _paths(start: int, stop: int, routers: int, links: int, groups: int, pair: int) -> tuple[tuple[int, ...], ...]:
    one, other = start // routers, stop // routers
    if start == stop:
        return ((start,),)
    if one == other:
        return ((start, stop),)
    paths = []
    for cable in range(pair):
        leave = _router(one, other, cable, links, groups, pair, routers)
        enter = _router(other, one, cable, links, groups, pair, routers)
        head = (start,) if leave == start else (start, leave)
        tail = (stop,) if enter == stop else (enter, stop)
        paths.append(head + tail)
    return tuple(paths)
