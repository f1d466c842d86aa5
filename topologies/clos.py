"""Folded Clos networks: leaves, spines and cores from hosts and switch radix; shared by fat-trees and rails.

C. Clos, "A study of non-blocking switching networks", Bell System Technical Journal 32, 1953; C. Leiserson,
"Fat-trees", IEEE Transactions on Computers C-34, 1985; M. Al-Fares, A. Loukissas, A. Vahdat, "A scalable, commodity
data center network architecture", SIGCOMM 2008. Spines by the rule that reproduces the counts NVIDIA publishes
for its SuperPODs: as few as their ports allow, and a number that divides the uplinks of a leaf.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from topologies.base import Counts, Tier, ends, smallest_divisor

if TYPE_CHECKING:
    import networkx as nx


@dataclass(frozen=True, kw_only=True)
class Clos:
    """A fabric worked out: how many of everything.

    A *unit* is the hosts that share leaves: one leaf for all their NICs in a fat-tree, a leaf a rail where rails
    are kept apart. With several *planes* every NIC has a port in each, and each plane is a fabric of its own.
    Uplinks are not whole where an oversubscription does not divide; cables are rounded up.
    """

    hosts: int
    nics: int
    levels: int
    hosts_per_unit: int
    units_per_pod: int
    rails: int
    """Leaves of a unit in one plane."""
    joined: bool
    """Whether spines join the rails."""
    leaf_up: float
    """Uplinks of a leaf."""
    spines: int
    """Of a pod and plane, or of a rail of it where rails are not joined."""
    spine_up: float = 0.0
    cores: int = 0
    """That a spine reaches; spines of the same number in all pods share them."""
    planes: int = 1
    uplink_rate: float = 1.0
    """Rate of a cable above the leaves over that of a NIC's."""

    @property
    def units(self) -> int:
        return math.ceil(self.hosts / self.hosts_per_unit)

    @property
    def pods(self) -> int:
        return math.ceil(self.units / self.units_per_pod)

    @property
    def groups(self) -> int:
        """Return the separate sets of spines in a pod."""
        return self.planes * (1 if self.joined else self.rails)

    @property
    def leaves(self) -> int:
        return self.units * self.rails * self.planes

    def tiers(self, bandwidth: float) -> tuple[Tier, ...]:
        """Return the tiers of the hierarchy for NICs of `bandwidth`."""
        found = [Tier("nic", 1, self.nics * bandwidth, 1, self.nics)]
        cable = bandwidth / self.planes * self.uplink_rate
        if self.levels >= 2:
            leaves = self.rails * self.planes
            found.append(Tier("leaf", self.hosts_per_unit, leaves * self.leaf_up * cable, self.spines, leaves))
        if self.levels >= 3:
            pod = self.groups * self.spines * self.spine_up * cable
            hosts = self.hosts_per_unit * self.units_per_pod
            found.append(Tier("spine", hosts, pod, self.spines * self.cores, self.groups))
        return tuple(found)

    def counts(self) -> Counts:
        """Return switches, cables and ports of each tier."""
        switches, cables = {"leaf": self.leaves}, {"nic-leaf": self.hosts * self.nics * self.planes}
        ports = {"leaf": self.hosts_per_unit * self.nics // self.rails}
        diameter = 2
        if self.levels >= 2:
            each = math.ceil(self.leaf_up / self.spines)
            switches["spine"] = self.pods * self.groups * self.spines
            cables["leaf-spine"] = self.leaves * self.spines * each
            ports["leaf"] += self.spines * each
            ports["spine"] = min(self.units, self.units_per_pod) * (self.rails if self.joined else 1) * each
            diameter = 4 if self.units > 1 or (self.joined and self.rails > 1) else 2
        if self.levels >= 3:
            each = math.ceil(self.spine_up / self.cores)
            switches["core"] = self.groups * self.spines * self.cores
            cables["spine-core"] = switches["spine"] * self.cores * each
            ports["spine"] += self.cores * each
            ports["core"] = self.pods * each
            diameter = 6 if self.pods > 1 else diameter
        return Counts(switches=switches, cables=cables, diameter=diameter, ports=ports)

    def graph(self, bandwidth: float, latency: float) -> nx.Graph:
        """Return the fabric switch by switch, for NICs of `bandwidth`."""
        import networkx as nx

        graph, cable = nx.Graph(), bandwidth / self.planes
        for nic in ends(self.hosts, self.nics):
            for plane in range(self.planes):
                rail = nic[2] * self.rails // self.nics
                leaf = ("leaf", (nic[1] // self.hosts_per_unit * self.rails + rail) * self.planes + plane)
                graph.add_edge(nic, leaf, bandwidth=cable, latency=latency, count=1, tier="nic")
        for lower, upper, cables, tier in [*self._leaf_spine(), *self._spine_core()]:
            width = cables * cable * self.uplink_rate
            graph.add_edge(lower, upper, bandwidth=width, latency=latency, count=math.ceil(cables), tier=tier)
        return graph

    def _leaf_spine(self) -> Iterator[tuple[tuple, tuple, float, str]]:
        for leaf in range(self.leaves if self.levels >= 2 else 0):
            unit, place = divmod(leaf, self.rails * self.planes)
            group = place % self.planes if self.joined else place
            for spine in range(self.spines):
                node = ("spine", (unit // self.units_per_pod * self.groups + group) * self.spines + spine)
                yield ("leaf", leaf), node, self.leaf_up / self.spines, "leaf"

    def _spine_core(self) -> Iterator[tuple[tuple, tuple, float, str]]:
        of_a_pod = self.groups * self.spines
        for spine in range(self.pods * of_a_pod if self.levels >= 3 else 0):
            for core in range(self.cores):
                node = ("core", spine % of_a_pod * self.cores + core)
                yield ("spine", spine), node, self.spine_up / self.cores, "spine"


def radix_for(ends: int) -> int:
    """Return the ports of the smallest common switch whose three levels reach `ends`: R³/4 at most.

    >>> radix_for(16384), radix_for(131072)
    (64, 128)
    """
    radix = 64
    while radix**3 // 4 < ends:
        radix *= 2
    return radix


@lru_cache(maxsize=256)
def build(
    *,
    hosts: int,
    nics: int,
    radix: int,
    levels: int,
    hosts_per_unit: int,
    units_per_pod: int,
    rails: int = 1,
    joined: bool = True,
    oversubscription: tuple[float, ...] = (1.0, 1.0),
    spines: int | None = None,
    planes: int = 1,
    uplink_rate: float = 1.0,
) -> Clos:
    """Return the fabric with as few spines and cores as their ports allow."""
    leaf_up = hosts_per_unit * nics / rails / oversubscription[0] / uplink_rate
    units = math.ceil(hosts / hosts_per_unit)
    pods = math.ceil(units / units_per_pod)
    leaves = min(units, units_per_pod) * (rails if joined else 1)
    if levels == 3:
        leaves = units_per_pod * (rails if joined else 1)
    down_share = 1.0 if levels < 3 else oversubscription[1] / (1 + oversubscription[1])
    found = spines or _spread(leaf_up, leaves * leaf_up / max(radix * down_share, 1.0))
    spine_up, cores = 0.0, 0
    if levels == 3:
        spine_up = leaves * leaf_up / found / oversubscription[1]
        cores = _spread(spine_up, pods * spine_up / radix)
    return Clos(
        hosts=hosts,
        nics=nics,
        levels=levels,
        hosts_per_unit=hosts_per_unit,
        units_per_pod=units_per_pod if levels == 3 else max(units, 1),
        rails=rails,
        joined=joined,
        leaf_up=leaf_up,
        spines=found,
        spine_up=spine_up,
        cores=cores,
        planes=planes,
        uplink_rate=uplink_rate,
    )


def _spread(uplinks: float, needed: float) -> int:
    """Return over how many switches to spread `uplinks` when ports ask for at least `needed` switches."""
    whole = math.ceil(uplinks - 1e-9)
    return smallest_divisor(whole, min(math.ceil(needed - 1e-9), whole))
