"""Slow hosts that are replaced when they have cost enough: what they have cost since the first of them slowed down."""

from __future__ import annotations

import math
from collections.abc import Generator
from typing import TYPE_CHECKING, Any

import simpy

from simulator.engine.faults import Faults
from simulator.units import Seconds

if TYPE_CHECKING:
    from simulator.engine.job import Job


class SlowHosts:
    def __init__(self, bears: Seconds) -> None:
        self._bears = bears
        """Time that they may cost before they are replaced; infinite where they never are."""
        self._lost = 0.0
        self.rate = 0.0
        """Time that they cost a second of running, as it is now."""
        self.replaced = 0
        self._spares_from = -math.inf
        """When there may be spares again."""

    def due(self, faults: Faults, now: Seconds) -> Seconds:
        """Return how long to run on until they are replaced."""
        if math.isinf(self._bears):
            return math.inf
        self.rate = 1 - faults.without_slow_hosts() / faults.factor(now) if faults.slow_hosts else 0.0
        if self.rate <= 0:
            self._lost = 0.0
            return math.inf
        return max((self._bears - self._lost) / self.rate, self._spares_from - now, 0.0)

    def cost(self, time: Seconds) -> None:
        """Count `time` of running as it is now."""
        self._lost += self.rate * time

    def wait(self, until: Seconds) -> None:
        """Bear on, for want of spares."""
        self._spares_from = until

    def forget(self) -> None:
        self._lost = 0.0


def replace(job: Job) -> Generator[simpy.Event, Any, None]:
    """Save, and restart with spares in place of the slow hosts; where there are too few, when the next host is back."""
    hosts = job.faults.slow_hosts
    if job.pool.lacking(job.environment.now, hosts):
        job.slow_hosts.wait(math.nextafter(job.pool.next_return, math.inf))
        return
    job.slow_hosts.forget()
    yield from job.save()
    for _ in range(hosts):
        job.damage.send_away(job.pool, job.environment.now)
    job.faults.cure()
    job.slow_hosts.replaced += hosts
    time = job.restarts.time(hosts, waited=False) + job.restore.load(job.restore.best(job.environment.now))
    yield from job.down(("restart", time))
    if job.wall:
        job.queue.pause(time)
