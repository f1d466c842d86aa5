"""Elastic data parallelism: each replica that is missing is a process that waits for hosts, and comes back."""

from __future__ import annotations

from collections.abc import Iterator

import simpy

from simulator.engine.run.inputs import RunInput
from simulator.engine.run.job import Job, Waiting
from simulator.engine.run.losses import Loss
from simulator.engine.run.recovery import Recovery
from simulator.engine.run.spares import Spares
from simulator.reliability.durations.draw import coin, draws
from simulator.reliability.incidents import Stream
from simulator.reliability.recovery.elastic import Elastic
from simulator.units import Count, Number, Seconds


class Missing:
    """A replica without some of its hosts, or on its way back."""

    def __init__(self, claims: list[simpy.Event]) -> None:
        self._claims = claims
        self.process: simpy.Process

    def awaited(self) -> list[simpy.Event]:
        """Return the hosts that it waits for."""
        return [claim for claim in self._claims if not claim.triggered]


class Replicas:
    """The hosts of a job that goes on with the replicas that have all of theirs."""

    def __init__(self, job: Job, run: RunInput, elastic: Elastic, spares: Spares, stream: Stream) -> None:
        self._job = job
        self._elastic = elastic
        self._spares = spares
        self._hosts_each = max(run.units["host"] // elastic.replicas, 1)
        self._stall = draws(elastic.stall, lambda: stream("stall"))
        self._replace = draws(elastic.replace, lambda: stream("replace"))
        self._rejoin = draws(elastic.rejoin, lambda: stream("rejoin"))
        self._which = coin(lambda: stream("replica"))
        self._missing: list[Missing] = []

    def pace(self) -> Number:
        """Return the time that work takes with those that are left, over that with all."""
        return self._elastic.replicas / (self._elastic.replicas - len(self._missing))

    def survive(self, loss: Loss, recovery: Recovery) -> Waiting:
        """Go on without the replicas that were hit; return a loss that needs a restart all the same, or None.

        Another failure during the stall begins a stall of its own.
        """
        again: Loss | None = loss
        while again is not None and again.hosts:
            if (struck := self._struck()) is not None:
                self._lose_again(struck, again.away)
                return None
            hit = -(-again.hosts // self._hosts_each)
            if self._elastic.replicas - len(self._missing) - hit < self._elastic.minimum:
                self._lack(again.away)
                return again._replace(away=0)
            stall = next(self._stall)
            for hosts in self._shares(again.away, hit):
                self._send_off(self._claim(hosts), stall)
            again = yield from recovery.restart(stall)
        return again

    def _struck(self) -> Missing | None:
        """Return the missing replica that a failure strikes, or None where it strikes one of the others."""
        if not self._missing:
            return None
        place = int(next(self._which) * self._elastic.replicas)
        return self._missing[place] if place < len(self._missing) else None

    def _lose_again(self, struck: Missing, hosts: Count) -> None:
        """Send a replica that is missing already off again, for want of `hosts` more."""
        self._give_up(struck)
        self._send_off(struck.awaited() + self._claim(hosts), 0.0)

    def _shares(self, hosts: Count, replicas: Count) -> Iterator[Count]:
        """Yield how many of neighbouring `hosts` each of the `replicas` that they hit has lost."""
        for number in range(replicas):
            yield max(min(hosts - number * self._hosts_each, self._hosts_each), 0)

    def _claim(self, hosts: Count) -> list[simpy.Event]:
        claim = self._spares.claim(hosts)
        return [] if claim is None else [claim]

    def _send_off(self, claims: list[simpy.Event], stall: Seconds) -> None:
        """Miss a replica, which comes back from the end of the `stall` on, once it has the hosts it claims."""
        missing = Missing(claims)
        self._missing.append(missing)
        missing.process = self._job.environment.process(self._come_back(missing, stall, next(self._replace)))

    def _come_back(self, missing: Missing, stall: Seconds, replace: Seconds) -> simpy.events.ProcessGenerator:
        """Wait for hosts, bring them up, and ask to join."""
        environment = self._job.environment
        try:
            if missing.awaited():
                yield environment.timeout(stall)
                yield environment.all_of(missing.awaited())
                stall = 0.0
            yield environment.timeout(stall + replace)
        except simpy.Interrupt:
            return
        self._job.ask(lambda: self._join(missing))

    def _join(self, missing: Missing) -> Waiting:
        """Take back a replica, for which everybody waits."""
        if missing in self._missing:
            self._missing.remove(missing)
            yield from self._job.busy("restart", next(self._rejoin))

    def _give_up(self, missing: Missing) -> None:
        """Let a missing replica not come back by itself."""
        self._missing.remove(missing)
        if missing.process.is_alive:
            missing.process.interrupt()

    # Where everybody restarts, those that have their hosts restart with the others.

    def miss(self, loss: Loss) -> None:
        """Note hosts that are lost while the job is down or goes down."""
        if self._spares.at_hand(loss.away):
            self._spares.claim(loss.away)
        elif (struck := self._struck()) is not None:
            self._lose_again(struck, loss.away)
        else:
            self._lack(loss.away)

    def _lack(self, hosts: Count) -> None:
        """Miss the replicas that lose `hosts` hosts and find no spares."""
        for share in self._shares(hosts, -(-hosts // self._hosts_each)):
            if claims := self._claim(share):
                self._send_off(claims, 0.0)

    def awaited(self) -> simpy.Event | None:
        """Return what the job waits for while too few replicas have their hosts."""
        waiting = [awaited for missing in self._missing if (awaited := missing.awaited())]
        if self._elastic.replicas - len(waiting) >= self._elastic.minimum:
            return None
        return self._job.environment.any_of([claim for claims in waiting for claim in claims])

    def gather(self) -> None:
        """Restart with all that have their hosts."""
        for missing in [one for one in self._missing if not one.awaited()]:
            self._give_up(missing)
