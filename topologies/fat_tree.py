"""Fat-tree: leaves, spines and, at three levels, cores, with any oversubscription at each tier.

All NICs of a host hang on one leaf. A k-ary fat-tree (Al-Fares et al., SIGCOMM 2008) of 5k²/4 switches and k³/4
hosts is the case radix = k without oversubscription; Meta's 24K-GPU cluster (arXiv 2407.21783, section 3.3.1) is
three levels, 2 hosts a leaf, 384 a pod and oversubscription 1 and 7.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from topologies.base import Count, Counts, Number, Tier, Topology
from topologies.clos import Clos, build, radix_for

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

    def plan(self, hosts: int, nics_per_host: int) -> Clos:
        """Return how many of everything there are."""
        ratios = self.ratios()
        radix = self.radix or radix_for(hosts * nics_per_host)
        down = radix * ratios[0] / (1 + ratios[0])
        per_leaf = self.hosts_per_leaf or max(1, int(down / max(nics_per_host, 1) + 1e-9))
        leaves = math.ceil(hosts / per_leaf)
        levels = self.levels or self._levels(hosts * nics_per_host, hosts, leaves, radix)
        if levels == 1:
            per_leaf = hosts
        below = radix * ratios[1] / (1 + ratios[1]) if levels == 3 else math.inf
        per_pod = self.hosts_per_pod or per_leaf * int(min(below, max(leaves, 1)))
        return build(
            hosts=hosts,
            nics=nics_per_host,
            radix=radix,
            levels=levels,
            hosts_per_unit=per_leaf,
            units_per_pod=max(1, per_pod // per_leaf),
            oversubscription=ratios,
            spines=self.spines,
            planes=self.planes,
            uplink_rate=self.uplink_rate,
        )

    def ratios(self) -> tuple[float, float]:
        """Return the oversubscription of leaves and of spines; one number holds for both."""
        given = self.oversubscription
        if isinstance(given, (int, float)):
            return float(given), float(given)
        return float(given[0]), float(given[1] if len(given) > 1 else 1.0)

    def _levels(self, ends: int, hosts: int, leaves: int, radix: int) -> int:
        if self.hosts_per_pod is not None and self.hosts_per_pod < hosts:
            return 3
        if self.hosts_per_leaf is None and ends <= radix:
            return 1
        if leaves <= 1:
            return 1
        return 2 if leaves <= radix else 3

    def tiers(self, hosts: int, nics_per_host: int) -> tuple[Tier, ...]:
        return self.plan(hosts, nics_per_host).tiers(self.bandwidth)

    def counts(self, hosts: int, gpus_per_host: int, nics_per_host: int) -> Counts:
        return self.plan(hosts, nics_per_host).counts()

    def graph(self, hosts: int, gpus_per_host: int, nics_per_host: int) -> nx.Graph:
        return self.plan(hosts, nics_per_host).graph(self.bandwidth, self.latency)
