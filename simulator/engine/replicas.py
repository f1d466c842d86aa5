"""Elastic data parallelism: replicas that are missing, wait for a host, and come back."""

from __future__ import annotations

import heapq
import math
from collections.abc import Generator
from typing import TYPE_CHECKING, Any

import simpy

from simulator.engine.recovery import stand_still
from simulator.reliability.durations.draw import coin, draws
from simulator.reliability.incidents import NOTHING, Incident, Stream
from simulator.reliability.recovery.elastic import Elastic
from simulator.units import Count, Seconds

if TYPE_CHECKING:
    from simulator.engine.job import Job


class Replicas:
    def __init__(self, elastic: Elastic, hosts: Count, stream: Stream) -> None:
        self._elastic = elastic
        self._hosts_each = max(hosts // elastic.replicas, 1)
        self._stall = draws(elastic.stall, lambda: stream("stall"))
        self._replace = draws(elastic.replace, lambda: stream("replace"))
        self._rejoin = draws(elastic.rejoin, lambda: stream("rejoin"))
        self._which = coin(lambda: stream("replica"))
        self._coming_back: list[Seconds] = []
        self.waiting = 0
        """Replicas for which there is no host yet."""

    @property
    def missing(self) -> Count:
        return self.waiting + len(self._coming_back)

    @property
    def next_back(self) -> Seconds:
        """When the next replica comes back."""
        return self._coming_back[0] if self._coming_back else math.inf

    def factor(self) -> float:
        """Return the time that work takes with those that are left, over that with all."""
        return self._elastic.replicas / (self._elastic.replicas - self.missing)

    def hit(self, hosts: Count) -> Count:
        """Return the replicas that lose one or more of `hosts` neighbouring hosts; none if it is missing already."""
        if self.missing and next(self._which) < self.missing / self._elastic.replicas:
            return 0
        return -(-hosts // self._hosts_each)

    def can_lose(self, replicas: Count) -> bool:
        return self._elastic.replicas - self.missing - replicas >= self._elastic.minimum

    def stall(self) -> Seconds:
        return next(self._stall)

    def rejoin(self) -> Seconds:
        return next(self._rejoin)

    def leave(self, hit: Count, lacking: Count, now: Seconds) -> None:
        """Lose `hit` replicas; those that find a host are brought up from `now` on."""
        for _ in range(hit):
            if lacking > self.waiting:
                self.waiting += 1
            else:
                self._bring_up(now)

    def _bring_up(self, now: Seconds) -> None:
        heapq.heappush(self._coming_back, now + next(self._replace))

    def take_back(self) -> None:
        heapq.heappop(self._coming_back)

    def restart(self, hit: Count, lacking: Count) -> None:
        """Start all over with every replica that has its hosts, after `hit` more were lost."""
        self._coming_back.clear()
        self.waiting = min(self.waiting + hit, lacking)

    def fill(self, lacking: Count, now: Seconds) -> None:
        """Bring up those for which there is a host by now."""
        while self.waiting > lacking:
            self.waiting -= 1
            self._bring_up(now)

    def too_few(self, lacking: Count) -> bool:
        """Return whether too few replicas have their hosts, after those that wait have looked for one."""
        self.waiting = min(self.waiting, lacking)
        return self._elastic.replicas - self.waiting < self._elastic.minimum


def shrink(job: Job, incident: Incident, hosts: Count) -> Generator[simpy.Event, Any, tuple[Incident, Count]]:
    """Go on without the replicas that were hit; return a failure that needs a restart all the same, or NOTHING.

    Another failure during the stall begins a stall of its own.
    """
    replicas = job.replicas
    assert replicas is not None
    while True:
        hit = replicas.hit(hosts) if hosts else 0
        if not hosts or not replicas.can_lose(hit):
            replicas.restart(hit, job.pool.lacking(job.environment.now))
            return incident, hosts
        if not hit:
            return NOTHING, 0
        stall = replicas.stall()
        replicas.leave(hit, job.pool.lacking(job.environment.now), job.environment.now + stall)
        again = yield from stand_still(job, "restart", stall)
        if again is None:
            return NOTHING, 0
        incident, hosts = again, job.lose(again)
