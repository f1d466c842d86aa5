"""Rail-only fabric: one network a rail, never joined; traffic between rails crosses NVLink inside a host.

W. Wang, M. Ghobadi, K. Shakeri, Y. Zhang, N. Hasani, "Rail-only: A Low-Cost High-Performance Network for Training
LLMs with Trillion Parameters", arXiv 2307.12169.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from topologies.base import Count, Counts, Number, Tier, Topology
from topologies.clos import Clos, build, radix_for

if TYPE_CHECKING:
    import networkx as nx


@dataclass(frozen=True, kw_only=True)
class RailOnly(Topology):
    kind: ClassVar[str] = "rail-only"

    radix: Count | None = None
    """Ports of a switch; 64, or the next double that three levels need, where left out."""
    oversubscription: Number = 1.0
    """Of the leaves, where a rail needs more than one switch."""

    def plan(self, hosts: int, nics_per_host: int) -> Clos:
        """Return how many of everything there are: one switch a rail while its ports last, then a Clos a rail."""
        radix = self.radix or radix_for(hosts)
        down = max(1, int(radix * self.oversubscription / (1 + self.oversubscription) + 1e-9))
        levels = 1 if hosts <= radix else 2 if hosts <= down * radix else 3
        return build(
            hosts=hosts,
            nics=nics_per_host,
            radix=radix,
            levels=levels,
            hosts_per_unit=hosts if levels == 1 else down,
            units_per_pod=-(-hosts // down) if levels < 3 else radix // 2,
            rails=nics_per_host,
            joined=False,
            oversubscription=(float(self.oversubscription), 1.0),
        )

    def tiers(self, hosts: int, nics_per_host: int) -> tuple[Tier, ...]:
        return self.plan(hosts, nics_per_host).tiers(self.bandwidth)

    def counts(self, hosts: int, gpus_per_host: int, nics_per_host: int) -> Counts:
        return self.plan(hosts, nics_per_host).counts()

    def graph(self, hosts: int, gpus_per_host: int, nics_per_host: int) -> nx.Graph:
        return self.plan(hosts, nics_per_host).graph(self.bandwidth, self.latency)
