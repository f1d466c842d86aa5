"""NVLink domain: every GPU on every NVSwitch; the whole cluster is one scale-up domain.

An HGX board (8 GPUs) or an NVL72 rack (18 trays of 4 GPUs, 18 NVSwitches, NVIDIA GB200 NVL72 reference
architecture). The link bandwidth is that of one GPU into all switches together.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from topologies.base import Count, Counts, Tier, Topology, ends

if TYPE_CHECKING:
    import networkx as nx


@dataclass(frozen=True, kw_only=True)
class NvlinkDomain(Topology):
    kind: ClassVar[str] = "nvlink-domain"
    scale_up: ClassVar[bool] = True

    switches: Count = 1
    """NVSwitches; each carries an equal share of every GPU's links."""

    def tiers(self, hosts: int, nics_per_host: int) -> tuple[Tier, ...]:
        return (Tier("nic", 1, nics_per_host * self.bandwidth, self.switches, nics_per_host),)

    def counts(self, hosts: int, gpus_per_host: int, nics_per_host: int) -> Counts:
        gpus = hosts * gpus_per_host
        return Counts(
            switches={"nvswitch": self.switches},
            cables={"gpu-nvswitch": gpus * self.switches},
            diameter=2,
            ports={"nvswitch": gpus},
        )

    def graph(self, hosts: int, gpus_per_host: int, nics_per_host: int) -> nx.Graph:
        import networkx as nx

        graph = nx.Graph()
        share = self.bandwidth / self.switches
        for gpu in ends(hosts, gpus_per_host, "gpu"):
            for switch in range(self.switches):
                graph.add_edge(
                    gpu, ("nvswitch", switch), bandwidth=share, latency=self.latency, count=1, tier="scale-up"
                )
        return graph
