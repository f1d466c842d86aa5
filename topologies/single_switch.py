"""Single switch: every NIC on one switch that blocks nobody."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from topologies.base import Apart, Topology, ends

if TYPE_CHECKING:
    import networkx as nx


@dataclass(frozen=True, kw_only=True)
class SingleSwitch(Topology):
    kind: ClassVar[str] = "single-switch"

    def graph(self, hosts: int, nics: int, apart: Apart = None) -> nx.Graph:
        import networkx as nx

        graph = nx.Graph()
        for nic, copies in ends(graph, hosts, nics, apart):
            self.join(graph, nic, ("leaf", 0), "nic", links=copies)
        return graph
