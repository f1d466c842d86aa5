"""What every topology is: parameters that become a graph, counts and bandwidths in closed form.

Ends of the network are NICs, ``("nic", host, index)``, or GPUs, ``("gpu", host, index)``; everything else is a
switch. An edge carries ``bandwidth`` (per direction, all its cables together), ``latency``, ``count`` (cables) and
``tier``. Bandwidths are bytes a second, latencies seconds.
"""

from __future__ import annotations

import dataclasses
import math
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, NamedTuple, Self

if TYPE_CHECKING:
    import networkx as nx

Seconds = Annotated[float, "s"]
BytesPerSecond = Annotated[float, "B/s"]
Count = Annotated[int, "count"]
Number = Annotated[float, "number"]


class Bundle(NamedTuple):
    """Parallel links in one direction that equal-cost routing uses as one."""

    tier: str
    at: tuple[int, ...]
    """The unit that the links leave (enter), or the two units they join."""
    up: bool = True


class Tier(NamedTuple):
    """One level of a hierarchy of hosts: blocks of consecutive hosts and what joins each to the rest."""

    name: str
    hosts: int
    """Hosts of a full unit."""
    bandwidth: float
    """Out of a unit, and as much into it."""
    paths: int
    """Switches of the next level that a unit spreads its links over, rail by rail."""
    rails: int = 1
    """Independent parts of a unit; traffic is divided among them beforehand."""


@dataclass(frozen=True, kw_only=True)
class Counts:
    """What must be bought: switches and cables of each tier; and the longest of the shortest routes, in links."""

    switches: dict[str, int]
    cables: dict[str, int]
    diameter: int
    ports: dict[str, int] = field(default_factory=dict)
    """Ports used on the busiest switch of a tier."""


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
        """Return the bandwidth of one cable; 1 where not yet resolved, so that counts need no NIC."""
        return 1.0 if self.link_bandwidth is None else self.link_bandwidth

    @property
    def latency(self) -> float:
        return 0.0 if self.link_latency is None else self.link_latency

    def tiers(self, hosts: int, nics_per_host: int) -> tuple[Tier, ...]:
        """Return the hierarchy from the host's NICs up, or nothing where the fabric is not a hierarchy."""
        return ()

    @abstractmethod
    def counts(self, hosts: int, gpus_per_host: int, nics_per_host: int) -> Counts:
        """Return switches and cables of each tier, in closed form."""

    @abstractmethod
    def graph(self, hosts: int, gpus_per_host: int, nics_per_host: int) -> nx.Graph:
        """Return the fabric, switch by switch."""

    def bundles(self, source: int, destination: int, hosts: int, nics_per_host: int) -> Iterator[tuple[Bundle, float]]:
        """Return what traffic from one host to another crosses, and the share of it on each bundle."""
        for tier in self.tiers(hosts, nics_per_host):
            if source // tier.hosts != destination // tier.hosts:
                yield Bundle(tier.name, (source // tier.hosts,)), 1.0
                yield Bundle(tier.name, (destination // tier.hosts,), False), 1.0

    def capacity(self, bundle: Bundle, hosts: int, nics_per_host: int) -> float:
        """Return the bandwidth of a bundle."""
        return next(tier.bandwidth for tier in self.tiers(hosts, nics_per_host) if tier.name == bundle.tier)

    def bisection_bandwidth(self, hosts: int, gpus_per_host: int, nics_per_host: int) -> float:
        """Return what the first half of the hosts can send to the second half."""
        tiers = self.tiers(hosts, nics_per_host)
        return min(-(-hosts // tier.hosts) * tier.bandwidth / 2 for tier in tiers if tier.hosts < hosts)

    def switches_crossed(self, source: int, destination: int, hosts: int, nics_per_host: int) -> int:
        """Return the switches on a route between two hosts."""
        crossed = sum(source // tier.hosts != destination // tier.hosts for tier in self.tiers(hosts, nics_per_host))
        return max(0, 2 * crossed - 1)

    def link(self, one: str, other: str) -> tuple[int, int] | None:
        """Return the bundle ``("link", ...)`` between two nodes by name, where the fabric is not a hierarchy."""
        return None

    def at(self, name: str) -> tuple[tuple[int, int], ...] | None:
        """Return the links at a node by its name, both ways, where every node has a name; None elsewhere."""
        return None

    def without(self, *names: str) -> Self:
        """Return the fabric without a node, or without the link between two; only where every node has a name."""
        raise NotImplementedError

    def routes(self, graph: nx.Graph, source: Hashable, destination: Hashable) -> list[list[Hashable]]:
        """Return the equal-cost routes between two ends of the graph."""
        import networkx as nx

        return list(nx.all_shortest_paths(graph, source, destination))


def numbered(name: str, kind: str) -> int:
    """Return the number in a name such as ``router/3``."""
    found, _, number = name.partition("/")
    if found != kind or not number.isdigit():
        raise ValueError(f"expected {kind}/N, found {name!r}")
    return int(number)


def ends(hosts: int, per_host: int, name: str = "nic") -> list[tuple[str, int, int]]:
    """Return the names of all NICs (or GPUs)."""
    return [(name, host, index) for host in range(hosts) for index in range(per_host)]


@lru_cache(maxsize=1024)
def smallest_divisor(number: int, least: int) -> int:
    """Return the smallest divisor of `number` that is at least `least`, or `number` itself.

    Every leaf has equally many links to every spine, so that the number of spines divides a leaf's uplinks.

    >>> smallest_divisor(32, 12)
    16
    """
    small = [d for d in range(1, min(math.isqrt(max(number, 1)), 100_000) + 1) if number % d == 0]
    return min((d for d in (*small, *(number // d for d in small)) if d >= least), default=max(number, 1))
