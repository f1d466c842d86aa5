"""Hosts that are away for repair, and the spares that stand in for them."""

from __future__ import annotations

import simpy

from simulator.units import Count, Seconds


class Spares:
    """A pool of spare hosts; without one (`spares` None) a failed host is replaced at once."""

    def __init__(self, environment: simpy.Environment, spares: Count | None, technicians: Count | None) -> None:
        self._environment = environment
        self._pool = None if spares is None else simpy.Container(environment, init=spares)
        self._technicians = simpy.Resource(environment, technicians) if technicians else None
        self._back: simpy.Event | None = None
        self._away = 0
        self._counted_until = 0.0
        self._time_away: dict[int, Seconds] = {}

    def send_away(self, hosts: Count, repair: Seconds) -> None:
        """Send `hosts` hosts to one repair that takes `repair` once a technician is there."""
        self._count(hosts)
        if self._technicians:
            self._environment.process(self._repair(self._technicians, hosts, repair))
        else:
            self._environment.timeout(repair).callbacks.append(lambda _: self._put_back(hosts))

    def _repair(self, technicians: simpy.Resource, hosts: Count, repair: Seconds) -> simpy.events.ProcessGenerator:
        with technicians.request() as technician:
            yield technician
            yield self._environment.timeout(repair)
        self._put_back(hosts)

    def _put_back(self, hosts: Count) -> None:
        self._count(-hosts)
        if self._pool:
            self._pool.put(hosts)
        if self._back:
            self._back.succeed()
            self._back = None

    def claim(self, hosts: Count) -> simpy.Event | None:
        """Ask for `hosts` spares; return the event to wait for, or None where they are there."""
        if self._pool is None or not hosts:
            return None
        request = self._pool.get(hosts)
        return None if request.triggered else request

    def at_hand(self, hosts: Count) -> bool:
        """Return whether `hosts` spares are free."""
        return self._pool is None or (self._pool.level >= hosts and not self._pool.get_queue)

    def next_back(self) -> simpy.Event:
        """Return the event that the next host is back from its repair."""
        self._back = self._back or self._environment.event()
        return self._back

    def time_away(self) -> dict[int, Seconds]:
        """Return how long so many hosts have been away; empty where none has been away for a known time."""
        if self._time_away:
            self._count(0)
        return dict(sorted(self._time_away.items()))

    def _count(self, hosts: int) -> None:
        now = self._environment.now
        self._time_away[self._away] = self._time_away.get(self._away, 0.0) + now - self._counted_until
        self._away, self._counted_until = self._away + hosts, now
