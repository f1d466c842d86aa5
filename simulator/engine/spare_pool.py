"""Hosts that are away for repair, and the spares that stand in for them.

A job needs as many hosts as it started with, so it lacks hosts only while more are away than there are spares.
Without a pool (spares None) a failed host is replaced at once and repairs are only counted. When a host will be
back is known as soon as it leaves, so nothing needs to happen then: whoever asks is told who is back by now.
"""

from __future__ import annotations

import heapq
import math

from simulator.units import Count, Seconds


class SparePool:
    def __init__(self, spares: Count | None, technicians: Count | None) -> None:
        self._spares = spares
        self._technicians = [0.0] * technicians if technicians else None
        """When each of them is free again."""
        self._away = 0
        self._returns: list[tuple[Seconds, Count]] = []
        self._counted_until = 0.0
        self.time_away: dict[int, Seconds] = {}
        """How long so many hosts have been away; empty while none has been away for a known time."""

    @property
    def next_return(self) -> Seconds:
        """When the next host comes back."""
        return self._returns[0][0] if self._returns else math.inf

    def take(self, hosts: Count, repair: Seconds, now: Seconds) -> None:
        """Send `hosts` hosts to one repair that takes `repair` once a technician is there."""
        self.count(now)
        self._away += hosts
        if self._technicians:
            repair += max(self._technicians[0] - now, 0.0)
            heapq.heapreplace(self._technicians, now + repair)
        heapq.heappush(self._returns, (now + repair, hosts))

    def lacking(self, now: Seconds, more: Count = 0) -> Count:
        """Return the hosts that the job is short of, or would be if it lost some more."""
        if self._spares is None or self._away + more <= self._spares:
            return 0
        self.count(now)
        return max(0, self._away + more - self._spares)

    def count(self, now: Seconds) -> None:
        """Bring the time that hosts have been away up to `now`, and back those whose repair is over."""
        while self._returns and self._returns[0][0] <= now:
            time, hosts = heapq.heappop(self._returns)
            self._count(time)
            self._away -= hosts
        self._count(now)

    def _count(self, now: Seconds) -> None:
        self.time_away[self._away] = self.time_away.get(self._away, 0.0) + now - self._counted_until
        self._counted_until = now
