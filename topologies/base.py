"""What every topology is: parameters that become a networkx graph, in the manner of networkx's own generators.

Ends are NICs, ``("nic", host, rail)``, or GPUs, ``("gpu", host, index)``; every other vertex is a switch, such as
``("leaf", 3)``. An edge carries ``bandwidth`` (per direction, all its cables together), ``latency`` (of one switch and
its cable), ``count`` (cables) and ``tier``. Bandwidths are bytes a second, latencies seconds.

Vertices that are alike may be written as one: ``copies`` says for how many it stands, and the edges at it have the
cables of all of them. ``links`` of an edge is the number of pairs that it joins. ``graph.graph["routing"]`` names the
way packets take: ``shortest`` where left out, ``dimension-order`` on a grid, ``minimal`` between groups.
"""

from __future__ import annotations

import dataclasses
import math
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

if TYPE_CHECKING:
    import networkx as nx

Seconds = Annotated[float, "s"]
BytesPerSecond = Annotated[float, "B/s"]
Count = Annotated[int, "count"]
Number = Annotated[float, "number"]
Node = tuple[Any, ...]
ENDS = ("nic", "gpu")
"""Kinds of vertices where hosts are joined to the fabric; all others are switches."""
Apart = Collection[Node] | None
"""Vertices that must not be merged with others of their kind; None keeps all apart."""


@dataclass(frozen=True, kw_only=True)
class Topology(ABC):
    """How hosts are wired. Subclasses are found by their ``kind``."""

    kind: ClassVar[str]
    scale_up: ClassVar[bool] = False
    """The links join GPUs, not NICs: the whole fabric is one scale-up domain."""

    link_bandwidth: BytesPerSecond | None = None
    """Of one cable and direction; the NIC's where left out."""
    link_latency: Seconds | None = None
    """Of one switch and its cable; the network's where left out."""
    routing: Literal["adaptive", "static"] = "adaptive"
    """``adaptive`` spreads traffic over equal-cost links; ``static`` hashes each flow onto one of them (ECMP)."""
    queue_pairs: Count = 4
    """Flows that a connection is split into before hashing, where routing is static."""

    def __post_init__(self) -> None:
        for parameter in dataclasses.fields(self):
            value = getattr(self, parameter.name)
            least = 0.0 if parameter.name == "link_latency" else 1e-300
            for number in value if isinstance(value, tuple) else (value,):
                if isinstance(number, (int, float)) and not least <= number < math.inf:
                    raise ValueError(f"{parameter.name}: expected a number above 0, found {number}")

    def resolved(self, link_bandwidth: float, link_latency: float) -> Self:
        """Return this topology with the link rate and latency filled in where left out."""
        return dataclasses.replace(
            self,
            link_bandwidth=self.link_bandwidth if self.link_bandwidth is not None else link_bandwidth,
            link_latency=self.link_latency if self.link_latency is not None else link_latency,
        )

    @property
    def bandwidth(self) -> float:
        """Return the bandwidth of one cable; 1 where not yet resolved."""
        return 1.0 if self.link_bandwidth is None else self.link_bandwidth

    @property
    def latency(self) -> float:
        """Return the latency of one switch and its cable; 0 where not yet resolved."""
        return 0.0 if self.link_latency is None else self.link_latency

    @abstractmethod
    def graph(self, hosts: int, nics: int, apart: Apart = None) -> nx.Graph:
        """Return the fabric of `hosts` with `nics` each, whole, or folded except for what must be `apart`.

        A topology may ignore `apart` and always return the whole fabric, which then costs more to route.
        Raises ValueError, with the numbers, where the parameters do not hold the hosts.
        """

    def join(
        self,
        graph: nx.Graph,
        one: Node,
        other: Node,
        tier: str,
        *,
        cables: float = 1.0,
        links: int = 1,
        rate: float = 1.0,
    ) -> None:
        """Add an edge for `links` pairs, each joined by `cables` whose rate is so many times that of a NIC.

        Cables need not be whole where an oversubscription does not divide; they are counted rounded up.
        """
        bandwidth, count = links * cables * rate * self.bandwidth, links * math.ceil(cables)
        graph.add_edge(one, other, bandwidth=bandwidth, latency=self.latency, count=count, tier=tier, links=links)


def lanes(count: int, apart: Collection[int] | None) -> list[tuple[int, int]]:
    """Return the parts of `count` that are written one by one: the number of each, and for how many it stands.

    >>> lanes(4, None)
    [(0, 1), (1, 1), (2, 1), (3, 1)]
    >>> lanes(4, [2])
    [(0, 3), (2, 1)]
    """
    if apart is None:
        return [(number, 1) for number in range(count)]
    alone = {number for number in apart if number < count}
    rest = next((number for number in range(count) if number not in alone), None)
    merged = [] if rest is None else [(rest, count - len(alone))]
    return sorted([*merged, *((number, 1) for number in alone)])


def numbers(nodes: Collection[Node], kind: str, place: int = 1) -> set[int]:
    """Return the numbers of one kind among some vertices; the rail of a NIC is at `place` 2."""
    return {node[place] for node in nodes if node[0] == kind and len(node) > place}


def ends(graph: nx.Graph, hosts: int, nics: int, apart: Apart = None, kind: str = "nic") -> Iterator[tuple[Node, int]]:
    """Add the ends of all hosts and yield each with the NICs that it stands for."""
    rails = lanes(nics, None if apart is None else numbers(apart, kind, place=2))
    for host in range(hosts):
        for rail, copies in rails:
            graph.add_node((kind, host, rail), copies=copies)
            yield (kind, host, rail), copies


def node(name: str) -> Node:
    """Return the vertex of a name; raise ValueError where it is empty.

    >>> node("nic/3/0"), node("leaf/4")
    (('nic', 3, 0), ('leaf', 4))
    """
    kind, *places = name.strip().split("/")
    if not kind:
        raise ValueError("a node without a name")
    return (kind, *(place if (number := whole(place)) is None else number for place in places))


def whole(text: str) -> int | None:
    """Return the whole number that up to 30 digits from 0 to 9 write; None for any other text."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 30 else None
