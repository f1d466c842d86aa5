"""Edge list: any fabric, given cable by cable as CSV.

Columns ``source,target,bandwidth,latency,count``: names of two nodes, bytes a second of one cable and direction,
seconds, and the number of cables (1 where left out). ``nic/3/0`` is NIC 0 of host 3 and ``gpu/3/0`` a GPU; every
other name is a switch, and ``leaf/4`` becomes ``("leaf", 4)``. Empty bandwidth or latency: the NIC's. The list may be
of more hosts than the cluster has: those from number `hosts` on are left out.
"""

from __future__ import annotations

import csv
import io
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from topologies.base import ENDS, Apart, Topology, node, whole

if TYPE_CHECKING:
    import networkx as nx


@dataclass(frozen=True, kw_only=True)
class EdgeList(Topology):
    kind: ClassVar[str] = "edge-list"
    file_holds: ClassVar[str] = "edges"
    """The field that whoever opens `file` fills with what it holds; nothing here opens a file."""

    edges: str = ""
    """The CSV itself."""
    file: str = ""
    """A CSV file, where it is not given in place."""

    def graph(self, hosts: int, nics: int, apart: Apart = None) -> nx.Graph:
        """Return the fabric; raise ValueError, with the line, where a row cannot be read."""
        import networkx as nx

        if not self.edges:
            raise ValueError("an edge list needs `file`, a CSV file, or `edges`, the CSV itself")
        graph = nx.Graph()
        for line, row in enumerate(_rows(self.edges), start=2):
            try:
                self._add(graph, row)
            except (KeyError, TypeError, ValueError) as error:
                raise ValueError(
                    f"line {line}: expected two names, such as nic/3/0 for NIC 0 of host 3 and leaf/4, and numbers in "
                    "SI units where they are given, under the header source,target,bandwidth,latency,count"
                ) from error
        there = {end[1] for end in graph if end[0] in ENDS}
        if missing := [host for host in range(hosts) if host not in there]:
            raise ValueError(f"no edge reaches host {missing[0]}: name its NIC nic/{missing[0]}/0")
        graph.remove_nodes_from([end for end in graph if end[0] in ENDS and end[1] >= hosts])
        return graph

    def _add(self, graph: nx.Graph, row: dict[str, str]) -> None:
        one, other = _node(row["source"] or ""), _node(row["target"] or "")
        rate = float(row.get("bandwidth") or self.bandwidth)
        delay = float(row.get("latency") or self.latency)
        count = whole((row.get("count") or "1").strip()) or 0
        if one == other or not (0 < rate < math.inf and 0 <= delay < math.inf and 0 < count < 1e6):
            raise ValueError("out of range")
        tier = "nic" if "nic" in (one[0], other[0]) else "-".join(sorted({str(one[0]), str(other[0])}))
        graph.add_edge(one, other, bandwidth=rate * count, latency=delay, count=count, tier=tier)


def _node(name: str) -> tuple[str | int, ...]:
    """Return the node of a name; raise ValueError for a NIC or a GPU that does not say its host and its number."""
    found = node(name)
    if found[0] in ENDS and not (len(found) == 3 and all(isinstance(number, int) for number in found[1:])):
        raise ValueError("no end")
    return found


def _rows(text: str) -> list[dict[str, str]]:
    reader = csv.DictReader(io.StringIO(text.strip(), newline=None))
    try:
        return list(reader)
    except csv.Error as error:
        raise ValueError(f"line {reader.line_num}: not a CSV table: {error}") from None
