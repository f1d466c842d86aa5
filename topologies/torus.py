"""Torus: hosts on a grid that wraps around, each joined to its two neighbours in every dimension.

W. Dally and B. Towles, "Principles and Practices of Interconnection Networks", 2004, chapter 5; Google TPU v4
(N. Jouppi et al., ISCA 2023). Routes correct one dimension after the other, the shorter way round.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar

from topologies.base import Bundle, Count, Counts, Topology, ends, numbered

if TYPE_CHECKING:
    import networkx as nx


@dataclass(frozen=True, kw_only=True)
class Torus(Topology):
    kind: ClassVar[str] = "torus"

    dimensions: tuple[Count, ...] | None = None
    """Hosts along each dimension; the most cubic three that hold the hosts where left out."""

    def shape(self, hosts: int) -> tuple[int, ...]:
        """Return the lengths of the dimensions that are longer than one."""
        if self.dimensions is not None:
            if math.prod(self.dimensions) != hosts:
                raise ValueError(f"a torus of {' x '.join(map(str, self.dimensions))} has not {hosts} hosts")
            return tuple(length for length in self.dimensions if length > 1) or (1,)
        shape, left = [], hosts
        for remaining in (3, 2, 1):
            side = next(d for d in range(max(1, round(left ** (1 / remaining) + 1e-9)), 0, -1) if left % d == 0)
            shape.append(side if remaining > 1 else left)
            left //= side
        return tuple(sorted(length for length in shape if length > 1)) or (1,)

    def cables(self, hosts: int, nics_per_host: int) -> float:
        """Return the cables of a host to one neighbour: its NICs divided over all directions, at least one."""
        return max(1.0, nics_per_host / (2 * len(self.shape(hosts))))

    def counts(self, hosts: int, gpus_per_host: int, nics_per_host: int) -> Counts:
        shape = self.shape(hosts)
        links = sum(hosts if length > 2 else hosts // 2 for length in shape if length > 1)
        return Counts(
            switches={"router": hosts},
            cables={
                "nic-router": hosts * nics_per_host,
                "torus": links * math.ceil(self.cables(hosts, nics_per_host)),
            },
            diameter=2 + sum(length // 2 for length in shape),
            ports={"router": nics_per_host + sum(min(length - 1, 2) for length in shape)},
        )

    def bisection_bandwidth(self, hosts: int, gpus_per_host: int, nics_per_host: int) -> float:
        """Return the cut across the longest dimension: two links a line where it wraps around."""
        longest = max(self.shape(hosts))
        return (2 if longest > 2 else 1) * hosts / longest * self.cables(hosts, nics_per_host) * self.bandwidth

    def bundles(self, source: int, destination: int, hosts: int, nics_per_host: int) -> Iterator[tuple[Bundle, float]]:
        if source == destination:
            return
        yield Bundle("nic", (source,)), 1.0
        yield Bundle("nic", (destination,), False), 1.0
        for link in pairwise(self.path(source, destination, hosts)):
            yield Bundle("link", link), 1.0

    def capacity(self, bundle: Bundle, hosts: int, nics_per_host: int) -> float:
        return (nics_per_host if bundle.tier == "nic" else self.cables(hosts, nics_per_host)) * self.bandwidth

    def link(self, one: str, other: str) -> tuple[int, int]:
        return numbered(one, "router"), numbered(other, "router")

    def switches_crossed(self, source: int, destination: int, hosts: int, nics_per_host: int) -> int:
        return 0 if source == destination else len(self.path(source, destination, hosts))

    def path(self, source: int, destination: int, hosts: int) -> list[int]:
        """Return the hosts passed on the way, both ends included."""
        path, here, weight = [source], source, 1
        for length in self.shape(hosts):
            distance = (destination // weight - here // weight) % length
            move = 1 if distance <= length / 2 else -1
            for _ in range(min(distance, length - distance)):
                place = here // weight % length
                here += ((place + move) % length - place) * weight
                path.append(here)
            weight *= length
        return path

    def graph(self, hosts: int, gpus_per_host: int, nics_per_host: int) -> nx.Graph:
        import networkx as nx

        graph = nx.Graph()
        for nic in ends(hosts, nics_per_host):
            graph.add_edge(nic, ("router", nic[1]), bandwidth=self.bandwidth, latency=self.latency, count=1, tier="nic")
        cables, weight = self.cables(hosts, nics_per_host), 1
        for length in self.shape(hosts):
            for host in range(hosts if length > 1 else 0):
                place = host // weight % length
                neighbour = host + ((place + 1) % length - place) * weight
                graph.add_edge(
                    ("router", host),
                    ("router", neighbour),
                    bandwidth=cables * self.bandwidth,
                    latency=self.latency,
                    count=math.ceil(cables),
                    tier="torus",
                )
            weight *= length
        return graph

    def routes(self, graph: nx.Graph, source: Hashable, destination: Hashable) -> list[list[Hashable]]:
        hosts = sum(node[0] == "router" for node in graph)
        assert isinstance(source, tuple)
        assert isinstance(destination, tuple)
        return [[source, *(("router", host) for host in self.path(source[1], destination[1], hosts)), destination]]
