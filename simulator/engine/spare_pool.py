"""Hosts that are away for repair, and the spares that stand in for them.

A job needs as many hosts as it started with, so it lacks hosts only while more are out than there are spares.
Without a pool (spares None) a failed host is replaced at once and repairs are only counted.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable

import simpy

from simulator.units import Count, Seconds


class SparePool:
    def __init__(
        self,
        environment: simpy.Environment,
        spares: Count | None,
        technicians: Count | None,
    ) -> None:
        self._environment = environment
        self._spares = spares
        self._technicians = [0.0] * technicians if technicians else None
        """When each of them is free again."""
        self.returned: Callable[[], None] = _nobody
        """Called when a host comes back."""
        self._next_back: simpy.Event | None = None
        self._returns: list[tuple[Seconds, Count]] = []
        self._counted_until = 0.0
        self.out = 0
        self.time_out: dict[int, Seconds] = {}
        """How long so many hosts have been out."""
        self.counts = False
        """Whether any host has been out for a known time."""

    @property
    def lacking(self) -> Count:
        """Hosts that the job is short of."""
        return max(0, self.out - self._spares) if self._spares is not None else 0

    def take(self, hosts: Count, repair: Seconds) -> None:
        """Send `hosts` hosts to one repair that takes `repair` once a technician is there."""
        now = self._environment.now
        self.count(now)
        self.counts = True
        self.out += hosts
        if self._technicians:
            repair += max(self._technicians[0] - now, 0.0)
            heapq.heapreplace(self._technicians, now + repair)
        if self._spares is None:
            heapq.heappush(self._returns, (now + repair, hosts))
            return
        back = self._environment.timeout(repair, hosts)
        back.callbacks.append(self._back)

    def _back(self, event: simpy.Event) -> None:
        self.count(self._environment.now)
        self.out -= event.value or 0
        if self._next_back is not None:
            self._next_back.succeed()
            self._next_back = None
        self.returned()

    def back(self) -> simpy.Event:
        """Return an event for the next host that comes back."""
        if self._next_back is None:
            self._next_back = self._environment.event()
        return self._next_back

    def count(self, now: Seconds) -> None:
        """Bring the time that hosts have been out up to `now`."""
        while self._returns and self._returns[0][0] <= now:
            time, hosts = heapq.heappop(self._returns)
            self._count(time)
            self.out -= hosts
        self._count(now)

    def _count(self, now: Seconds) -> None:
        self.time_out[self.out] = self.time_out.get(self.out, 0.0) + now - self._counted_until
        self._counted_until = now


def _nobody() -> None:
    pass
