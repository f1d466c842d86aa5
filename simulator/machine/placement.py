"""Where ranks sit: which host and GPU each rank gets.

Rank r takes GPU r mod g of the r // g-th host of the job; the layout numbers ranks in Megatron's order tensor,
context, expert, data, pipeline, so that tensor groups stay inside a host and stages are furthest apart. Which
host of the fabric the job's i-th host is, the placement says.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from simulator.random import stream
from simulator.units import Count


@dataclass(frozen=True, kw_only=True)
class Placement:
    """Hosts of the fabric in the order in which the job uses them."""

    kind: Literal["contiguous", "scattered"] = "contiguous"
    """``scattered``: a random order, as a busy scheduler leaves it (the same at every run)."""
    hosts: tuple[Count, ...] = ()
    """The hosts by number; beats ``kind``. Numbers beyond the job's hosts make the fabric larger."""

    def order(self, hosts: int) -> tuple[int, ...]:
        """Return the fabric's host for each of the job's `hosts`; raise ValueError where the list does not fit."""
        return _order(self, hosts)

    def fabric_hosts(self, hosts: int) -> int:
        """Return how many hosts the fabric must have."""
        return max(hosts, 1 + max(self.hosts, default=0))


@lru_cache(maxsize=64)
def _order(placement: Placement, hosts: int) -> tuple[int, ...]:
    if placement.hosts:
        if len(placement.hosts) != hosts:
            raise ValueError(f"placement lists {len(placement.hosts)} hosts, but the job has {hosts}")
        if len(set(placement.hosts)) != hosts or min(placement.hosts) < 0:
            raise ValueError("placement lists a host twice, or a negative number")
        return tuple(placement.hosts)
    if placement.kind == "scattered":
        return tuple(int(host) for host in stream(0, "placement", hosts).permutation(hosts))
    return tuple(range(hosts))


def locate(rank: int, gpus_per_host: int, order: tuple[int, ...]) -> tuple[int, int]:
    """Return the fabric's host and the GPU of `rank`.

    >>> locate(19, 8, (4, 0, 7))
    (7, 3)
    """
    return order[rank // gpus_per_host], rank % gpus_per_host
