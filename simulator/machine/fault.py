"""A sick fabric: what a degraded NIC, link, switch or host leaves of it, by name, on every topology.

What is slow has less bandwidth on all its edges; what is dead has none, and routes are found without it. Traffic is
divided over rails beforehand, so that one slow NIC or rail sets the pace of all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from simulator.errors import ScenarioError
from simulator.units import Count, Number, Share
from topologies.base import Node, node

if TYPE_CHECKING:
    import networkx as nx


PLACES = ("link", "nic", "leaf", "spine", "switch", "host")
"""Keys of a fault of which exactly one says what it is about."""


@dataclass(frozen=True, kw_only=True)
class Fault:
    """Exactly one place, and what is left of it."""

    link: tuple[str, str] | None = None
    """Two neighbours, such as ``[leaf/3, spine/1]`` or ``[host/7, leaf/3]``: all cables between them."""
    nic: str | None = None
    """``HOST/NIC``."""
    leaf: Count | None = None
    """Number of a leaf switch."""
    spine: Count | None = None
    """Number of a spine switch."""
    switch: str | None = None
    """Name of any switch, such as ``core/2`` or ``router/5``."""
    host: Count | None = None
    """Number of a host."""
    bandwidth: Share = 1.0
    """Share of the bandwidth that is left; 0 is dead."""
    slow: Number = 1.0
    """Factor on the time of the GPUs of a host."""

    def __str__(self) -> str:
        if self.link is not None:
            return "link " + " - ".join(self.link)
        name = next((name for name in PLACES if getattr(self, name) is not None), "nothing")
        return f"{name} {getattr(self, name, '')}"

    def nodes(self) -> tuple[Node, ...]:
        """Return the vertices that it is about, those of a host by their beginning; both ends of a link."""
        numbered = [
            f"{kind}/{at}" for kind in ("nic", "leaf", "spine", "host") if (at := getattr(self, kind)) is not None
        ]
        names = self.link or (*numbered, self.switch or "")[:1]
        try:
            found = [node(name) for name in names]
        except ValueError:
            raise ScenarioError(f"fault {self}: expected names such as leaf/3") from None
        return tuple(("nic", *one[1:]) if one[0] == "host" else one for one in found)


def apart(faults: Iterable[Fault]) -> tuple[Node, ...]:
    """Return the vertices of a fabric that faults make different from others of their kind."""
    return tuple(sorted({place for fault in faults if fault.bandwidth < 1.0 for place in fault.nodes()}, key=str))


def weakened(graph: nx.Graph, faults: Sequence[Fault]) -> nx.Graph:
    """Return the fabric that some faults leave; raise ScenarioError where one is about nothing that is there."""
    sick = [fault for fault in faults if fault.bandwidth < 1.0]
    found = [(fault, list(_edges(graph, fault))) for fault in sick]
    left = graph.copy()
    for fault, edges in found:
        for edge in edges:
            left.edges[edge]["bandwidth"] *= fault.bandwidth
            left.edges[edge]["left"] = left.edges[edge].get("left", 1.0) * fault.bandwidth
    dead = [edge for edge in left.edges if not left.edges[edge]["bandwidth"]]
    left.remove_edges_from(dead)
    left.remove_nodes_from([end for edge in dead for end in edge if end[0] == "nic" and not left.degree(end)])
    return left


def _edges(graph: nx.Graph, fault: Fault) -> Iterator[tuple[Node, Node]]:
    """Yield the edges of a fault."""
    places = fault.nodes()
    members = [[n for n in graph if n[: len(place)] == place] for place in places]
    for place, own in zip(places, members, strict=True):
        if not own:
            raise ScenarioError(f"fault {fault}: there is no {'/'.join(map(str, place))}; there are {_known(graph)}")
    if len(places) == 1:
        yield from graph.edges(members[0])
        return
    between = [(one, other) for one in members[0] for other in members[1] if graph.has_edge(one, other)]
    if not between:
        raise ScenarioError(f"fault {fault}: no cable joins these two; there are {_known(graph)}")
    yield from between


def _known(graph: nx.Graph) -> str:
    """Return the vertices of a graph in words."""
    counts = Counter[str]()
    for one, copies in graph.nodes(data="copies", default=1):
        counts[one[0]] += copies
    hosts = 1 + max(one[1] for one in graph if one[0] == "nic")
    return ", ".join(
        f"nic/0/0 to nic/{hosts - 1}/{count // hosts - 1}" if kind == "nic" else f"{kind}/0 to {kind}/{count - 1}"
        for kind, count in counts.items()
    )


def slowest(faults: Sequence[Fault]) -> float:
    """Return the factor on compute time of the slowest host."""
    return max((fault.slow for fault in faults), default=1.0)
