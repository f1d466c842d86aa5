"""What flows load, and what that leaves for each: the share of the fullest link, in closed form where possible.

Equal flows rise together until the first link is full, so that the slowest flow of a max-min allocation gets the
least of capacity over load of all links. A collective goes at the pace of its slowest flow: no more is needed
for one axis alone. In a hierarchy, links of a unit are one bundle and nothing grows with the number of switches.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from simulator.machine import hashing
from simulator.machine.fault import Factors
from simulator.machine.traffic import Flow, Group
from simulator.units import BytesPerSecond, Count, Share
from topologies.base import Bundle, Tier, Topology


@dataclass(frozen=True)
class Fabric:
    """A topology of given size with its faults."""

    topology: Topology
    hosts: Count
    nics: Count
    tiers: tuple[Tier, ...]
    factors: Mapping[tuple[str, tuple[int, ...]], float]
    luck: Share | None = None
    """With how much luck flows are hashed, a quantile of the share they get; the mean where left out."""

    def capacity(self, bundle: Bundle, flows: float = 0.0) -> BytesPerSecond:
        """Return the bandwidth of a bundle after faults and, under static routing, collisions of `flows` flows."""
        sick = self.factors.get((bundle.tier, bundle.at), 1.0) if self.factors else 1.0
        for tier in self.tiers:
            if tier.name == bundle.tier:
                return tier.bandwidth * sick * self._hashing(tier, flows)
        return self.topology.capacity(bundle, self.hosts, self.nics) * sick

    def _hashing(self, tier: Tier, flows: float) -> float:
        if self.topology.routing == "adaptive" or tier.paths <= 1 or flows <= 0:
            return 1.0
        links = max(1, round(tier.bandwidth / self.topology.bandwidth / tier.rails))
        return hashing.efficiency(max(1, round(flows / tier.rails)), links, self.topology.queue_pairs, self.luck)


def fabric(topology: Topology, hosts: int, nics: int, factors: Factors, luck: Share | None = None) -> Fabric:
    """Return the fabric that `hosts` with `nics` each make of `topology`."""
    return Fabric(topology, hosts, nics, topology.tiers(hosts, nics), factors, luck)


def loads(fabric: Fabric, flows: Iterable[Flow]) -> dict[Bundle, float]:
    """Return what each bundle carries, in units of the flows."""
    if not fabric.tiers:
        return _walk(fabric, flows)
    found: dict[tuple[int, int, bool], float] = {}
    sizes = [tier.hosts for tier in fabric.tiers]
    for source, destination, amount in flows:
        for level, size in enumerate(sizes):
            here, there = source // size, destination // size
            if here == there:
                break
            up, down = (level, here, True), (level, there, False)
            found[up] = found.get(up, 0.0) + amount
            found[down] = found.get(down, 0.0) + amount
    return {Bundle(fabric.tiers[level].name, (unit,), up): load for (level, unit, up), load in found.items()}


def exchange_loads(fabric: Fabric, groups: Iterable[Group], hosts_per_domain: int) -> dict[Bundle, float]:
    """Return what each unit of a hierarchy sends out when every rank sends 1/ranks to every rank of its group.

    What a rank sends to its own scale-up domain does not touch the fabric.
    """
    found: dict[tuple[int, int], float] = {}
    for group in groups:
        ranks = group.ranks
        places = [(domain, host, count) for domain, hosts in group.domains for host, count in hosts]
        in_domain: dict[int, int] = {}
        for domain, _, count in places:
            in_domain[domain] = in_domain.get(domain, 0) + count
        for level, tier in enumerate(fabric.tiers):
            in_unit: dict[int, int] = {}
            in_both: dict[tuple[int, int], int] = {}
            for domain, host, count in places:
                unit = host // tier.hosts
                in_unit[unit] = in_unit.get(unit, 0) + count
                in_both[unit, domain] = in_both.get((unit, domain), 0) + count
            for (unit, domain), count in in_both.items():
                away = ranks - in_unit[unit] - in_domain[domain] + count
                found[level, unit] = found.get((level, unit), 0.0) + group.count * count * away / ranks
    return {
        Bundle(fabric.tiers[level].name, (unit,), up): load
        for (level, unit), load in found.items()
        if load > 0
        for up in (True, False)
    }


def fullest(
    fabric: Fabric, load: Mapping[Bundle, float], nics_of_a_flow: float
) -> tuple[BytesPerSecond, Bundle] | None:
    """Return the rate of the slowest flow of size 1, and the bundle that sets it; the first one where several do."""
    best: tuple[float, Bundle] | None = None
    known: dict[tuple[str, float], float] = {}
    for bundle, amount in load.items():
        sick = (bundle.tier, bundle.at) in fabric.factors
        key = (bundle.tier, amount)
        rate = None if sick or not fabric.tiers else known.get(key)
        if rate is None:
            rate = fabric.capacity(bundle, amount * nics_of_a_flow) / amount
            if not sick:
                known[key] = rate
        if best is None or rate < best[0] * (1 - 1e-12):
            best = rate, bundle
    return best


def _walk(fabric: Fabric, flows: Iterable[Flow]) -> dict[Bundle, float]:
    routes: dict[tuple[int, int], Sequence[tuple[Bundle, float]]] = {}
    found: dict[Bundle, float] = {}
    for source, destination, amount in flows:
        if (source, destination) not in routes:
            routes[source, destination] = tuple(fabric.topology.bundles(source, destination, fabric.hosts, fabric.nics))
        for bundle, share in routes[source, destination]:
            found[bundle] = found.get(bundle, 0.0) + amount * share
    return found
