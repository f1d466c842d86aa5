"""Who talks to whom when all groups of an axis run at once.

An axis is `size` ranks at a distance of `stride` ranks; its groups start at every rank r with (r // stride) mod
size = 0. Groups whose ranks sit on the same hosts are folded into one with a count, and so are ranks on one host.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from simulator.units import Count

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]
Pattern = Literal["ring", "exchange", "next", "previous"]
"""Around each group, all with all, or from the first rank of each group to the second, or back."""
MOST = 64
"""Distances between the scale-up domains of a group that stand for all of them, where traffic is taken pair by pair."""


class Flows(NamedTuple):
    """Traffic from hosts to hosts: an entry each."""

    source: Whole
    target: Whole
    amount: Floats


@dataclass(frozen=True, eq=False)
class Groups:
    """The different groups of an axis: an entry for each host of a group, in ring order, domain by domain."""

    group: Whole
    """The group of each entry."""
    domain: Whole
    """The scale-up domain of each entry, numbered through all groups."""
    host: Whole
    """The host of the fabric of each entry."""
    ranks: Whole
    """How many ranks of the group sit on that host."""
    counts: Whole
    """How many groups each of the different ones stands for."""

    @cached_property
    def sizes(self) -> Whole:
        """Return the ranks of each group."""
        return np.bincount(self.group, self.ranks).astype(np.int64)

    @cached_property
    def _first(self) -> Whole:
        """Return the first entry of each domain, and the number of entries."""
        return np.flatnonzero(np.diff(self.domain, prepend=-1, append=-1))

    @cached_property
    def _widths(self) -> Whole:
        """Return the ranks of a group in each of its domains."""
        return np.add.reduceat(self.ranks, self._first[:-1])

    @cached_property
    def _owner(self) -> Whole:
        """Return the group of each domain."""
        return self.group[self._first[:-1]]

    @cached_property
    def domains(self) -> Whole:
        """Return the number of domains of each group."""
        return np.bincount(self._owner)

    @property
    def widest(self) -> tuple[Count, Count, Count]:
        """Return of the first group with most domains: domains, ranks, and the most of them in one domain."""
        group = int(np.argmax(self.domains))
        return int(self.domains[group]), int(self.sizes[group]), int(self._widths[self._owner == group].max())

    def ring(self) -> Flows:
        """Return the flows between neighbours, last to first included: one boundary's traffic is 1 a group."""
        return self._shifted(np.ones(len(self.counts), dtype=np.int64), np.ones(len(self.counts)))

    def sends(self, *, back: bool = False) -> Flows:
        """Return the flows from each domain to the next of its group, or `back`, where each rank sends 1."""
        here = np.flatnonzero(np.diff(self._owner, append=-1) == 0)
        source, target = (here + 1, here) if back else (here, here + 1)
        return self._between(source, target, (self.counts[self._owner] * self._widths)[source].astype(np.float64))

    def exchange(self) -> Iterator[Flows]:
        """Yield the flows of every domain with every other, where each rank sends 1/ranks to each rank.

        Large groups are sampled: `MOST` destinations at equal distances stand for all.
        """
        others = self.domains - 1
        taken = np.minimum(others, MOST)
        for number in range(int(taken.max())):
            distance = np.where(number < taken, 1 + number * others // np.maximum(taken, 1), 0)
            yield self._shifted(distance, others / np.maximum(taken, 1) / self.sizes, product=True)

    def crossing(self, entry: Whole, vertex: Whole) -> Iterator[tuple[Whole, Floats]]:
        """Yield vertices of a tree, and what crosses the edge above each one way in an exchange.

        `vertex` says for entries again and again below which vertices they are. What ranks of one domain send each
        other crosses nothing.
        """
        vertices = 1 + vertex.max(initial=0)
        share = self.counts / self.sizes
        for owner, whole, sign in ((self.group, self.sizes, 1), (self.domain, self._widths, -1)):
            part = share if sign > 0 else -share[self._owner]
            cells, which = np.unique(owner[entry] * vertices + vertex, return_inverse=True)
            inside = np.bincount(which, self.ranks[entry], len(cells))
            number, below = np.divmod(cells, vertices)
            yield below, part[number] * inside * (whole[number] - inside)

    def _shifted(self, distance: Whole, amount: Floats, *, product: bool = False) -> Flows:
        """Return the flows from each domain to the one `distance` further on in its group, if that is another."""
        start = np.flatnonzero(np.diff(self._owner, prepend=-1))
        place = np.arange(len(self._owner)) - start[self._owner]
        there = start[self._owner] + (place + distance[self._owner]) % self.domains[self._owner]
        here = np.flatnonzero(there != np.arange(len(there)))
        sent = (self.counts * amount)[self._owner]
        if product:
            sent = sent * self._widths * self._widths[there]
        return self._between(here, there[here], sent[here])

    def _between(self, here: Whole, there: Whole, amount: Floats) -> Flows:
        """Return the flows from host to host that make up those between domains.

        A domain of several hosts sends through the NICs of all: rank to rank, where both have equally many.
        """
        alone = np.diff(self._first) == 1
        if alone.all():
            return Flows(self.host[here], self.host[there], amount)
        width = np.where(alone, 1, self._widths)
        one, other = width[here], width[there]
        parts = np.where(one == other, one, one * other)
        part = np.arange(parts.sum()) - np.repeat(np.cumsum(parts) - parts, parts)
        rank_to_rank, across = np.repeat(one == other, parts), np.repeat(other, parts)
        of_rank = np.repeat(self.host, np.where(np.repeat(alone, np.diff(self._first)), 1, self.ranks))
        start = np.cumsum(width) - width
        source = of_rank[np.repeat(start[here], parts) + np.where(rank_to_rank, part, part // across)]
        target = of_rank[np.repeat(start[there], parts) + np.where(rank_to_rank, part, part % across)]
        return Flows(source, target, np.repeat(amount / parts, parts))


def groups(first: Whole, size: int, stride: int, *, gpus: int, gpus_per_host: int, hosts_per_domain: int,
           order: Whole) -> Groups:  # fmt: skip
    """Return the groups of `size` ranks, `stride` apart, from the ranks `first` on; beyond `gpus` there are none."""
    ranks = first[:, None] + stride * np.arange(size)
    places = np.where(ranks < gpus, ranks // gpus_per_host, -1)
    new = np.flatnonzero(np.any(np.diff(places, axis=0, prepend=-2) != 0, axis=1))
    counts = np.diff(new, append=len(first))
    places = places[new]
    group, column = np.nonzero(places >= 0)
    place = places[group, column]
    begins = np.flatnonzero(np.diff(group, prepend=-1) | np.diff(place, prepend=-1))
    group, host = group[begins], order[place[begins]]
    on_host = np.diff(begins, append=len(place))
    _, met, domain = np.unique(
        group * (1 + order.max()) + host // hosts_per_domain, return_index=True, return_inverse=True
    )
    number = np.argsort(np.argsort(met))[domain]
    ordered = np.argsort(number, kind="stable")
    return Groups(group[ordered], number[ordered], host[ordered], on_host[ordered], counts)


def starts(size: int, stride: int, gpus: int) -> Whole:
    """Return the first rank of every group of an axis."""
    first: Whole = np.arange(gpus)
    found: Whole = first[first // stride % size == 0]
    return found
