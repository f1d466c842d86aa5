"""Single switch: every NIC on one switch that blocks nobody."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from topologies.base import Counts, Tier, Topology, ends

if TYPE_CHECKING:
    import networkx as nx


@dataclass(frozen=True, kw_only=True)
class SingleSwitch(Topology):
    kind: ClassVar[str] = "single-switch"

    def tiers(self, hosts: int, nics_per_host: int) -> tuple[Tier, ...]:
        return (Tier("nic", 1, nics_per_host * self.bandwidth, 1, nics_per_host),)

    def counts(self, hosts: int, gpus_per_host: int, nics_per_host: int) -> Counts:
        cables = hosts * nics_per_host
        return Counts(switches={"switch": 1}, cables={"nic-switch": cables}, diameter=2, ports={"switch": cables})

    def graph(self, hosts: int, gpus_per_host: int, nics_per_host: int) -> nx.Graph:
        import networkx as nx

        graph = nx.Graph()
        for nic in ends(hosts, nics_per_host):
            graph.add_edge(nic, ("switch", 0), bandwidth=self.bandwidth, latency=self.latency, count=1, tier="nic")
        return graph
