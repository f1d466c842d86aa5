"""Rail-only fabric: one network a rail, never joined; traffic between rails crosses NVLink inside a host.

W. Wang, M. Ghobadi, K. Shakeri, Y. Zhang, N. Hasani, "Rail-only: A Low-Cost High-Performance Network for Training
LLMs with Trillion Parameters", arXiv 2307.12169.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from topologies.base import Apart, Count, Number, Topology
from topologies.clos_sizes import radix_for, sized

if TYPE_CHECKING:
    import networkx as nx


@dataclass(frozen=True, kw_only=True)
class RailOnly(Topology):
    kind: ClassVar[str] = "rail-only"

    radix: Count | None = None
    """Ports of a switch; 64, or the next double that three levels need, where left out."""
    oversubscription: Number = 1.0
    """Of the leaves, where a rail needs more than one switch."""

    def graph(self, hosts: int, nics: int, apart: Apart = None) -> nx.Graph:
        """Return the fabric: one switch a rail while its ports last, then a Clos a rail."""
        radix = self.radix or radix_for(hosts)
        down = max(1, int(radix * self.oversubscription / (1 + self.oversubscription) + 1e-9))
        levels = 1 if hosts <= radix else 2 if hosts <= down * radix else 3
        return sized(
            levels=levels, radix=radix, hosts=hosts, nics=nics, hosts_per_unit=hosts if levels == 1 else down,
            units_per_pod=max(1, radix // 2), rails=nics, joined=False,
            oversubscription=(float(self.oversubscription), 1.0),
        ).graph(self, apart)  # fmt: skip
