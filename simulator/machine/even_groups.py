"""Groups of an axis that divide hosts evenly, all at once: what they load, as arrays over the units of each tier.

The same as walking through the groups one by one (`traffic`, `routing.loads`), where every scale-up domain is one host,
the fabric a hierarchy, and each group has equally many ranks on each of its hosts; 131,072 GPUs then take milliseconds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from simulator.machine.routing import Fabric
from simulator.machine.traffic import Group
from topologies.base import Bundle


@dataclass(frozen=True, eq=False)
class EvenGroups:
    members: np.ndarray
    """A row for each different group: its hosts of the fabric, in ring order."""
    inside: int
    """Ranks of a group on each of its hosts."""
    count: int
    """Groups that each row stands for."""

    @property
    def ranks(self) -> int:
        return self.members.shape[1] * self.inside

    @property
    def first(self) -> Group:
        """Return one of the groups."""
        return Group(
            domains=tuple((host, ((host, self.inside),)) for host in self.members[0].tolist()), count=self.count
        )


def even_groups(size: int, stride: int, *, gpus: int, gpus_per_host: int, order: tuple[int, ...]) -> EvenGroups | None:
    """Return the groups of `size` ranks, `stride` apart, where they divide the hosts evenly and span several."""
    hosts = gpus // gpus_per_host
    if stride % gpus_per_host == 0:
        apart = stride // gpus_per_host
        if size == 1 or hosts % (apart * size):
            return None
        members = np.arange(hosts).reshape(-1, size, apart).transpose(0, 2, 1).reshape(-1, size)
        return EvenGroups(np.asarray(order)[members], 1, gpus_per_host)
    inside = gpus_per_host // stride
    if gpus_per_host % stride or size % max(inside, 1) or size <= inside or hosts % (size // inside):
        return None
    return EvenGroups(np.asarray(order)[np.arange(hosts).reshape(-1, size // inside)], inside, stride)


@dataclass(frozen=True, eq=False)
class TierLoad:
    """What the units of one tier send in one direction; the number of a unit is its place."""

    tier: str
    up: bool
    amounts: np.ndarray


def ring_loads(fabric: Fabric, groups: EvenGroups) -> list[TierLoad]:
    """Return what rings load when one boundary's traffic is 1 a group."""
    found = []
    for tier in fabric.tiers:
        here = groups.members // tier.hosts
        there = np.roll(here, -1, axis=1)
        crossing = here != there
        if groups.members.shape[1] > 1 and crossing.any():
            found += [
                TierLoad(tier.name, up, groups.count * np.bincount(units[crossing]))
                for up, units in ((True, here), (False, there))
            ]
    return found


def exchange_loads(fabric: Fabric, groups: EvenGroups) -> list[TierLoad]:
    """Return what each unit sends out when every rank sends 1/ranks to every rank of its group."""
    found = []
    rows = np.arange(len(groups.members))[:, None]
    for tier in fabric.tiers:
        units = groups.members // tier.hosts
        most = int(units.max()) + 1
        pairs, hosts = np.unique(rows * most + units, return_counts=True)
        ranks = groups.inside * hosts
        sent = groups.count * ranks * (groups.ranks - ranks) / groups.ranks
        amounts = np.bincount(pairs % most, weights=sent)
        if amounts.any():
            found += [TierLoad(tier.name, up, amounts) for up in (True, False)]
    return found


def as_bundles(loads: list[TierLoad]) -> dict[Bundle, float]:
    """Return the same by bundle, without those that carry nothing."""
    return {
        Bundle(load.tier, (unit,), load.up): amount
        for load in loads
        for unit, amount in enumerate(load.amounts.tolist())
        if amount > 0
    }


def fullest_first(loads: list[TierLoad], fabric: Fabric) -> dict[Bundle, float]:
    """Return the bundles among which the slowest is: of units alike the first with each load, and every sick one."""
    found = {}
    for load in loads:
        amounts, first = np.unique(load.amounts, return_index=True)
        for unit, amount in sorted(zip(first.tolist(), amounts.tolist(), strict=True)):
            if amount > 0:
                found[Bundle(load.tier, (unit,), load.up)] = amount
        for tier, at in fabric.factors:
            if tier == load.tier and at[0] < len(load.amounts) and load.amounts[at[0]] > 0:
                found[Bundle(tier, at, load.up)] = float(load.amounts[at[0]])
    return found
