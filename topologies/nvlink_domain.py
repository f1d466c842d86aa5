"""NVLink domain: every GPU on every NVSwitch; the whole cluster is one scale-up domain.

An HGX board (8 GPUs) or an NVL72 rack (18 trays of 4 GPUs, 18 NVSwitches, NVIDIA GB200 NVL72 reference
architecture). The link bandwidth is that of one GPU into all switches together.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from topologies.base import Apart, Count, Topology, ends

if TYPE_CHECKING:
    import networkx as nx


@dataclass(frozen=True, kw_only=True)
class NvlinkDomain(Topology):
    kind: ClassVar[str] = "nvlink-domain"
    scale_up: ClassVar[bool] = True

    switches: Count = 1
    """NVSwitches; each carries an equal share of every GPU's links."""

    def graph(self, hosts: int, nics: int, apart: Apart = None) -> nx.Graph:
        """Return the fabric; its ends are the `nics` GPUs of each host."""
        import networkx as nx

        graph = nx.Graph()
        for gpu, _ in ends(graph, hosts, nics, kind="gpu"):
            for switch in range(self.switches):
                self.join(graph, gpu, ("nvswitch", switch), "scale-up", rate=1 / self.switches)
        return graph
