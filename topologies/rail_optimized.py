"""Rail-optimised fabric: NIC i of every host of a unit on leaf i, so that equal ranks are one switch apart.

NVIDIA DGX SuperPOD reference architectures (H100, B200); W. Wang et al., "Rail-only", arXiv 2307.12169, section 2.
Traffic keeps to its rail: what must change rails does so over NVLink (PXN), so that spines carry only traffic
between units.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from topologies.base import Apart, Count, Number, Topology
from topologies.clos_sizes import radix_for, ratios, sized

if TYPE_CHECKING:
    import networkx as nx


@dataclass(frozen=True, kw_only=True)
class RailOptimized(Topology):
    kind: ClassVar[str] = "rail-optimized"

    hosts_per_unit: Count | None = None
    """Hosts that share a set of leaves (a scalable unit); half a switch's ports where left out."""
    radix: Count | None = None
    """Ports of a switch; 64, or the next double that three levels need, where left out."""
    oversubscription: Number | tuple[Number, ...] = 1.0
    """Bandwidth down over bandwidth up, one number or one a tier that has uplinks."""
    spines: Count | None = None
    """Of a pod; as few as their ports allow where left out."""
    planes: Count = 1
    """Separate fabrics; each NIC has a port of its rate divided by their number in each (dual-plane networks)."""
    uplink_rate: Number = 1.0
    """Rate of a cable above the leaves over that of a NIC, such as 2 for 800 Gb/s over 400 Gb/s NICs."""

    def graph(self, hosts: int, nics: int, apart: Apart = None) -> nx.Graph:
        """Return the fabric; it has a third tier where one spine cannot reach every leaf."""
        over = ratios(self.oversubscription)
        radix = self.radix or radix_for(hosts * nics)
        per_unit = self.hosts_per_unit or max(1, int(radix * over[0] / (1 + over[0]) + 1e-9))
        levels = 2 if math.ceil(hosts / per_unit) * nics <= radix else 3
        return sized(
            levels=levels, radix=radix, hosts=hosts, nics=nics, hosts_per_unit=per_unit,
            units_per_pod=max(1, radix // 2 // nics), rails=nics, oversubscription=over, spines=self.spines,
            planes=self.planes, uplink_rate=self.uplink_rate,
        ).graph(self, apart)  # fmt: skip
