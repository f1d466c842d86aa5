"""Fat-tree: leaves, spines and, at three levels, cores, with any oversubscription at each tier.

All NICs of a host hang on one leaf. A k-ary fat-tree (Al-Fares et al., SIGCOMM 2008) of 5k²/4 switches and k³/4
hosts is the case radix = k without oversubscription; Meta's 24K-GPU cluster (arXiv 2407.21783, section 3.3.1) is
three levels, 2 hosts a leaf, 384 a pod and oversubscription 1 and 7.
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
class FatTree(Topology):
    kind: ClassVar[str] = "fat-tree"

    levels: Count | None = None
    """1, 2 or 3; the fewest that reach all hosts where left out."""
    hosts_per_leaf: Count | None = None
    """Hosts under one leaf switch; as many as its ports allow where left out."""
    hosts_per_pod: Count | None = None
    """Hosts under one pod of three levels; as many as its ports allow where left out."""
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
        over = ratios(self.oversubscription)
        radix = self.radix or radix_for(hosts * nics)
        down, below = (radix * ratio / (1 + ratio) for ratio in over)
        per_leaf = self.hosts_per_leaf or max(1, int(down / max(nics, 1) + 1e-9))
        leaves = math.ceil(hosts / per_leaf)
        levels = self.levels or self._levels(hosts, hosts * nics, leaves, radix)
        if levels == 1:
            per_leaf = hosts
        per_pod = self.hosts_per_pod or per_leaf * int(min(below if levels == 3 else math.inf, max(leaves, 1)))
        return sized(
            levels=levels, radix=radix, hosts=hosts, nics=nics, hosts_per_unit=per_leaf,
            units_per_pod=max(1, per_pod // per_leaf), oversubscription=over, spines=self.spines,
            planes=self.planes, uplink_rate=self.uplink_rate,
        ).graph(self, apart)  # fmt: skip

    def _levels(self, hosts: int, ends: int, leaves: int, radix: int) -> int:
        """Return the fewest levels that reach all hosts."""
        if self.hosts_per_pod is not None and self.hosts_per_pod < hosts:
            return 3
        if leaves <= 1 or (self.hosts_per_leaf is None and ends <= radix):
            return 1
        return 2 if leaves <= radix else 3
