"""Who talks to whom when all groups of an axis run at once, folded: groups on the same hosts are one entry.

An axis is `size` ranks at a distance of `stride` ranks; its groups start at every rank r with (r // stride) mod
size = 0. Where strides divide hosts evenly, all groups of a host visit the same hosts and one stands for all.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from simulator.units import Count


@dataclass(frozen=True, kw_only=True)
class Group:
    """Groups of an axis that sit on the same hosts."""

    domains: tuple[tuple[int, tuple[tuple[int, int], ...]], ...]
    """In ring order, each scale-up domain with its hosts (of the fabric) and the ranks on each."""
    count: Count
    """How many groups this one stands for."""

    @property
    def ranks(self) -> int:
        return sum(ranks for _, hosts in self.domains for _, ranks in hosts)

    @property
    def largest(self) -> int:
        """Return the most ranks in one domain."""
        return max(sum(ranks for _, ranks in hosts) for _, hosts in self.domains)


def groups(
    size: int, stride: int, *, gpus: int, gpus_per_host: int, hosts_per_domain: int, order: tuple[int, ...]
) -> Iterator[Group]:
    """Yield the folded groups of an axis over `gpus` ranks."""
    for logical, count in _host_groups(size, stride, gpus, gpus_per_host):
        domains: dict[int, dict[int, int]] = {}
        for host, ranks in logical:
            place = order[host]
            inside = domains.setdefault(place // hosts_per_domain, {})
            inside[place] = inside.get(place, 0) + ranks
        yield Group(domains=tuple((d, tuple(hosts.items())) for d, hosts in domains.items()), count=count)


def _host_groups(size: int, stride: int, gpus: int, gpus_per_host: int) -> Iterator[tuple[list[tuple[int, int]], int]]:
    """Yield each different list of (host of the job, ranks on it), and how many groups have it."""
    if stride % gpus_per_host == 0:
        apart, hosts = stride // gpus_per_host, gpus // gpus_per_host
        for first in range(hosts):
            if first // apart % size == 0:
                yield [(first + i * apart, 1) for i in range(size) if first + i * apart < hosts], gpus_per_host
        return
    inside = gpus_per_host // stride
    if gpus_per_host % stride == 0 and size % inside == 0:
        for first in range(0, gpus // gpus_per_host, size // inside):
            yield [(first + i, inside) for i in range(size // inside)], stride
        return
    if gpus_per_host % stride == 0 and inside % size == 0:
        for host in range(gpus // gpus_per_host):
            yield [(host, size)], gpus_per_host // size
        return
    for first in range(gpus):
        if first // stride % size == 0:
            hosts_of: dict[int, int] = {}
            for rank in range(first, min(first + size * stride, gpus), stride):
                hosts_of[rank // gpus_per_host] = hosts_of.get(rank // gpus_per_host, 0) + 1
            yield list(hosts_of.items()), 1


Flow = tuple[int, int, float]
"""From host, to host, and the share of a group's traffic across a domain's boundary; counted over folded groups."""


def ring(group: Group) -> Iterator[Flow]:
    """Yield the flows between neighbours, last to first included: one boundary's traffic is 1 a group.

    A domain of several hosts sends through the NICs of all, in proportion to the ranks on each.
    """
    if len(group.domains) < 2:
        return
    for (_, here), (_, there) in zip(group.domains, group.domains[1:] + group.domains[:1], strict=True):
        yield from _between(here, there, float(group.count))


def exchange(group: Group, most: int = 64) -> Iterator[Flow]:
    """Yield the flows of every domain with every other, where each rank sends 1/ranks to each rank.

    Large groups are sampled: `most` destinations at equal distances stand for all.
    """
    count = len(group.domains)
    offsets = range(1, count) if count <= most else [1 + i * (count - 1) // most for i in range(most)]
    scale = (count - 1) / max(len(offsets), 1)
    for place, (_, here) in enumerate(group.domains):
        for offset in offsets:
            there = group.domains[(place + offset) % count][1]
            ranks = sum(r for _, r in here) * sum(r for _, r in there)
            yield from _between(here, there, group.count * scale * ranks / group.ranks)


def _between(here: tuple[tuple[int, int], ...], there: tuple[tuple[int, int], ...], amount: float) -> Iterator[Flow]:
    total = sum(ranks for _, ranks in here)
    if [ranks for _, ranks in here] == [ranks for _, ranks in there]:
        for (source, ranks), (destination, _) in zip(here, there, strict=True):
            yield source, destination, amount * ranks / total
        return
    other = sum(ranks for _, ranks in there)
    for source, ranks in here:
        for destination, more in there:
            yield source, destination, amount * ranks / total * more / other
