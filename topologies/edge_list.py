"""Edge list: any fabric, given cable by cable as CSV.

Columns ``source,target,bandwidth,latency,count``: names of two nodes, bytes a second of one cable and direction,
seconds, and the number of cables (1 where left out). ``nic/3/0`` is NIC 0 of host 3 and ``gpu/3/0`` a GPU; every
other name is a switch, and ``leaf/4`` becomes ``("leaf", 4)``. Empty bandwidth or latency: the NIC's.
"""

from __future__ import annotations

import csv
import dataclasses
import io
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Self

from topologies.base import Bundle, Counts, Topology

if TYPE_CHECKING:
    import networkx as nx

MOST_NICS = 64
"""NICs of a host that are looked for."""


@dataclass(frozen=True, kw_only=True)
class EdgeList(Topology):
    kind: ClassVar[str] = "edge-list"

    edges: str = ""
    """The CSV itself."""
    file: str = ""
    """A CSV file, where it is not given in place."""

    def graph(self, hosts: int, gpus_per_host: int, nics_per_host: int) -> nx.Graph:
        """Return the fabric; raise ValueError, with the line, where a row cannot be read."""
        graph = _parse(self.edges or Path(self.file).read_text(encoding="utf-8"), self.bandwidth, self.latency)
        missing = [h for h in range(hosts) if self._end(graph, h, 0) not in graph and ("gpu", h, 0) not in graph]
        if missing:
            raise ValueError(f"no edge reaches host {missing[0]}: name its NIC nic/{missing[0]}/0")
        for rail in range(nics_per_host):
            self._joined(graph, [self._end(graph, host, rail) for host in range(hosts)])
        return graph

    def counts(self, hosts: int, gpus_per_host: int, nics_per_host: int) -> Counts:
        import networkx as nx

        graph = self.graph(hosts, gpus_per_host, nics_per_host)
        switches: dict[str, int] = {}
        for node in graph:
            if node[0] not in ("nic", "gpu"):
                switches[str(node[0])] = switches.get(str(node[0]), 0) + 1
        cables: dict[str, int] = {}
        for _, _, edge in graph.edges(data=True):
            cables[edge["tier"]] = cables.get(edge["tier"], 0) + edge["count"]
        return Counts(switches=switches, cables=cables, diameter=nx.diameter(graph))

    def bisection_bandwidth(self, hosts: int, gpus_per_host: int, nics_per_host: int) -> float:
        """Return the maximum flow from the first half of the hosts to the second half."""
        import networkx as nx

        flow = nx.Graph(self.graph(hosts, gpus_per_host, nics_per_host))
        for node in list(flow):
            if node[0] in ("nic", "gpu"):
                flow.add_edge(node, "first" if node[1] < hosts // 2 else "second")
        return nx.maximum_flow_value(flow, "first", "second", capacity="bandwidth")

    def bundles(self, source: int, destination: int, hosts: int, nics_per_host: int) -> Iterator[tuple[Bundle, float]]:
        """Return the links of all shortest routes, rail to rail; a host with fewer NICs uses its first again."""
        if source == destination:
            return
        graph = self._fabric()
        for rail in range(nics_per_host):
            routes = self.routes(graph, self._end(graph, source, rail), self._end(graph, destination, rail))
            for route in routes:
                for one, other in pairwise(route):
                    at = (graph.nodes[one]["number"], graph.nodes[other]["number"])
                    yield Bundle("link", at), 1 / len(routes) / nics_per_host

    def capacity(self, bundle: Bundle, hosts: int, nics_per_host: int) -> float:
        graph = self._fabric()
        one, other = (graph.graph["order"][number] for number in bundle.at)
        return graph.edges[one, other]["bandwidth"]

    def link(self, one: str, other: str) -> tuple[int, int] | None:
        graph, ends = self._fabric(), (_node(one), _node(other))
        if ends not in graph.edges:
            return None
        return graph.nodes[ends[0]]["number"], graph.nodes[ends[1]]["number"]

    def at(self, name: str) -> tuple[tuple[int, int], ...]:
        """Return the links at all nodes whose name is `name` or begins with it, such as all NICs of ``nic/3``."""
        graph, node = self._fabric(), _node(name)
        numbers = graph.nodes(data="number")
        ends = [(one, other) for one, other in graph.edges if node in (one[: len(node)], other[: len(node)])]
        return tuple(
            pair for one, other in ends for pair in ((numbers[one], numbers[other]), (numbers[other], numbers[one]))
        )

    def without(self, *names: str) -> Self:
        nodes = [_node(name) for name in names]
        text = io.StringIO()
        rows = _rows(self.edges or Path(self.file).read_text(encoding="utf-8"))
        writer = csv.DictWriter(text, list(rows[0]), extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        for row in rows:
            ends = (_node(row["source"]), _node(row["target"]))
            if not all(any(end[: len(node)] == node for end in ends) for node in nodes):
                writer.writerow(row)
        return dataclasses.replace(self, edges=text.getvalue(), file="")

    def switches_crossed(self, source: int, destination: int, hosts: int, nics_per_host: int) -> int:
        import networkx as nx

        if source == destination:
            return 0
        graph = self._fabric()
        return nx.shortest_path_length(graph, self._end(graph, source, 0), self._end(graph, destination, 0)) - 1

    @staticmethod
    def _end(graph: nx.Graph, host: int, rail: int) -> tuple:
        """Return the NIC of a rail, or the first NIC of the host that is there."""
        if ("nic", host, rail) in graph:
            return ("nic", host, rail)
        return next(
            (("nic", host, other) for other in range(MOST_NICS) if ("nic", host, other) in graph), ("nic", host, 0)
        )

    @staticmethod
    def _joined(graph: nx.Graph, ends: list[tuple]) -> None:
        """Raise ValueError where no edges lead from the first of `ends` to another."""
        import networkx as nx

        reached = nx.node_connected_component(graph, ends[0]) if ends[0] in graph else {ends[0]}
        if lost := next((end for end in ends if end not in reached), None):
            one, other = ("/".join(map(str, end)) for end in (ends[0], lost))
            raise ValueError(f"no edges lead from {one} to {other}")

    def _fabric(self) -> nx.Graph:
        return _parse(self.edges or Path(self.file).read_text(encoding="utf-8"), self.bandwidth, self.latency)


@lru_cache(maxsize=8)
def _parse(text: str, bandwidth: float, latency: float) -> nx.Graph:
    import networkx as nx

    graph = nx.Graph()
    for line, row in enumerate(_rows(text), start=2):
        try:
            one, other = _node(row["source"] or ""), _node(row["target"] or "")
            rate = float(row.get("bandwidth") or bandwidth)
            count = int(row.get("count") or 1)
            delay = float(row.get("latency") or latency)
            if one == other or not (0 < rate < math.inf and 0 <= delay < math.inf and 0 < count < 1e6):
                raise ValueError("out of range")
        except (KeyError, TypeError, ValueError) as error:
            found = ",".join(str(cell) for cell in row.values() if cell is not None)[:80]
            raise ValueError(
                f"line {line}: expected two names, and numbers in SI units where they are given, under the header "
                f"source,target,bandwidth,latency,count; found {found}"
            ) from error
        tier = "-".join(sorted({str(one[0]), str(other[0])}))
        graph.add_edge(one, other, bandwidth=rate * count, latency=delay, count=count, tier=tier)
    graph.graph["order"] = list(graph)
    for number, node in enumerate(graph.graph["order"]):
        graph.nodes[node]["number"] = number
    return graph


def _rows(text: str) -> list[dict[str, str]]:
    reader = csv.DictReader(io.StringIO(text.strip(), newline=None))
    try:
        return list(reader)
    except csv.Error as error:
        raise ValueError(f"line {reader.line_num}: not a CSV table: {error}") from None


def _node(name: str) -> tuple:
    kind, *numbers = name.strip().split("/")
    if not kind:
        raise ValueError("a node without a name")
    return (kind, *(int(number) if number.isdigit() else number for number in numbers))
