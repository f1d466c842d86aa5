"""Torus: hosts on a grid that wraps around, each joined to its two neighbours in every dimension.

W. Dally and B. Towles, "Principles and Practices of Interconnection Networks", 2004, chapter 5; Google TPU v4
(N. Jouppi et al., ISCA 2023). Routes correct one dimension after the other, the shorter way round.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from topologies.base import Apart, Count, Topology, ends

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
            return tuple(length for length in self.dimensions if length > 1)
        shape, left = [], hosts
        for remaining in (3, 2):
            side = next(d for d in range(max(1, round(left ** (1 / remaining) + 1e-9)), 0, -1) if left % d == 0)
            shape.append(side)
            left //= side
        return tuple(sorted(length for length in (*shape, left) if length > 1))

    def graph(self, hosts: int, nics: int, apart: Apart = None) -> nx.Graph:
        """Return the grid; a host divides its NICs over all directions, at least one cable to each."""
        import networkx as nx

        shape = self.shape(hosts)
        graph = nx.Graph(routing="dimension-order", shape=shape)
        for nic, copies in ends(graph, hosts, nics, apart):
            self.join(graph, nic, ("router", nic[1]), "nic", links=copies)
        grid = nx.grid_graph(shape, periodic=True) if len(shape) > 1 else nx.cycle_graph(hosts if shape else 0)
        routers = {}
        for vertex in grid:
            number, place = 0, vertex if len(shape) > 1 else (vertex,)
            for step, length in zip(place, reversed(shape), strict=True):
                number = number * length + step
            routers[vertex] = ("router", number)
            graph.nodes["router", number]["place"] = place[::-1]
        for one, other in grid.edges:
            self.join(graph, routers[one], routers[other], "torus", cables=max(1.0, nics / (2 * len(shape))))
        return graph
