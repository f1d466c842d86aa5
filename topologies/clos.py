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
    are kept apart. Uplinks are not whole where an oversubscription does not divide; cables are rounded up.
    """

    hosts: int
    nics: int
    levels: int
    hosts_per_unit: int
    units_per_pod: int
    rails: int
    """Leaves of a unit."""
    joined: bool
    """Whether spines join the rails."""
    leaf_up: float
    """Uplinks of a leaf."""
    spines: int
    """Of a pod, or of a rail of it where rails are not joined."""
    spine_up: float = 0.0
    cores_per_plane: int = 0

    @property
    def units(self) -> int:
        return math.ceil(self.hosts / self.hosts_per_unit)

    @property
    def pods(self) -> int:
        return math.ceil(self.units / self.units_per_pod)

    @property
    def groups(self) -> int:
        """Return the separate spine groups of a pod."""
        return 1 if self.joined else self.rails

    def tiers(self, bandwidth: float) -> tuple[Tier, ...]:
        found = [Tier("nic", 1, self.nics * bandwidth, 1, self.nics)]
        if self.levels >= 2:
            unit = self.rails * self.leaf_up * bandwidth
            found.append(Tier("leaf", self.hosts_per_unit, unit, self.spines, self.rails))
        if self.levels >= 3:
            pod = self.groups * self.spines * self.spine_up * bandwidth
            hosts = self.hosts_per_unit * self.units_per_pod
            found.append(Tier("spine", hosts, pod, self.spines * self.cores_per_plane, self.groups))
        return tuple(found)

    def counts(self) -> Counts:
        leaves = self.units * self.rails
        switches, cables = {"leaf": leaves}, {"nic-leaf": self.hosts * self.nics}
        ports = {"leaf": self.hosts_per_unit * self.nics // self.rails + math.ceil(self.leaf_up)}
        links = self.units > 1
        diameter = 2
        if self.levels >= 2:
            switches["spine"] = self.pods * self.groups * self.spines
            cables["leaf-spine"] = leaves * self.spines * math.ceil(self.leaf_up / self.spines)
            below = min(self.units, self.units_per_pod) * self.rails // self.groups
            ports["spine"] = below * math.ceil(self.leaf_up / self.spines) + math.ceil(self.spine_up)
            diameter = 4 if links or (self.joined and self.rails > 1) else 2
        if self.levels >= 3:
            switches["core"] = self.groups * self.spines * self.cores_per_plane
            per_core = math.ceil(self.spine_up / self.cores_per_plane)
            cables["spine-core"] = switches["spine"] * self.cores_per_plane * per_core
            ports["core"] = self.pods * per_core
            diameter = 6 if self.pods > 1 else diameter
        return Counts(switches=switches, cables=cables, diameter=diameter, ports=ports)

    def graph(self, bandwidth: float, latency: float) -> nx.Graph:
        import networkx as nx

        graph = nx.Graph()
        for nic in ends(self.hosts, self.nics):
            leaf = ("leaf", self._leaf(nic[1], nic[2]))
            graph.add_edge(nic, leaf, bandwidth=bandwidth, latency=latency, count=1, tier="nic")
        for lower, upper, cables, tier in [*self._leaf_spine(), *self._spine_core()]:
            graph.add_edge(
                lower, upper, bandwidth=cables * bandwidth, latency=latency, count=math.ceil(cables), tier=tier
            )
        return graph

    def _leaf(self, host: int, nic: int) -> int:
        return host // self.hosts_per_unit * self.rails + nic * self.rails // self.nics

    def _leaf_spine(self) -> Iterator[tuple[tuple, tuple, float, str]]:
        if self.levels < 2:
            return
        for leaf in range(self.units * self.rails):
            pod = leaf // self.rails // self.units_per_pod
            group = leaf % self.rails if self.groups > 1 else 0
            for spine in range(self.spines):
                node = ("spine", (pod * self.groups + group) * self.spines + spine)
                yield ("leaf", leaf), node, self.leaf_up / self.spines, "leaf"

    def _spine_core(self) -> Iterator[tuple[tuple, tuple, float, str]]:
        """Spine number i of every pod reaches the cores of plane i."""
        if self.levels < 3:
            return
        planes = self.groups * self.spines
        for spine in range(self.pods * planes):
            for core in range(self.cores_per_plane):
                node = ("core", spine % planes * self.cores_per_plane + core)
                yield ("spine", spine), node, self.spine_up / self.cores_per_plane, "spine"


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
) -> Clos:
    """Return the fabric with as few spines and cores as their ports allow."""
    leaf_up = hosts_per_unit * nics / rails / oversubscription[0]
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
        cores_per_plane=cores,
    )


def _spread(uplinks: float, needed: float) -> int:
    """Return over how many switches to spread `uplinks` when ports ask for at least `needed` switches."""
    whole = math.ceil(uplinks - 1e-9)
    return smallest_divisor(whole, min(math.ceil(needed - 1e-9), whole))
