"""Slow hosts that are replaced when they have cost enough: what they have cost since the first of them slowed down."""

from __future__ import annotations

import math

import simpy

from simulator.engine.run.clock import Clock
from simulator.engine.run.job import Job, Waiting
from simulator.engine.run.losses import Losses
from simulator.engine.run.recovery import Recovery
from simulator.engine.run.slow_downs import SlowDowns
from simulator.engine.run.spares import Spares
from simulator.engine.run.states import TRAINING
from simulator.units import Seconds


class SlowHosts:
    def __init__(
        self, job: Job, bears: Seconds, slow_downs: SlowDowns, spares: Spares, losses: Losses, recovery: Recovery
    ) -> None:
        self.replaced = 0
        self._job = job
        self._bears = bears
        """Time that they may cost before they are replaced."""
        self._slow_downs = slow_downs
        self._spares = spares
        self._losses = losses
        self._recovery = recovery
        self._cost = Clock(job.environment, pace=0.0)
        """Shows what they have cost."""
        self._due = False
        self._over = job.environment.event()
        """That none is slow any more."""
        self._handled = job.environment.event()
        if math.isfinite(bears):
            job.clocks.add(self._cost, frozenset({TRAINING}))
            slow_downs.changed.append(self._count)
            job.environment.process(self._watch())

    def _count(self) -> None:
        """Count what they cost from here on; nothing is left to count once none is slow."""
        factor = self._slow_downs.factor()
        rate = 1 - self._slow_downs.factor_without_slow_hosts() / factor if self._slow_downs.slow_hosts else 0.0
        self._cost.run_at(rate)
        if rate <= 0:
            self._forget()

    def _forget(self) -> None:
        if self._due:
            self._due = False
            self._over.succeed()
        self._cost.set_to(0.0)

    def _watch(self) -> simpy.events.ProcessGenerator:
        """Ask for a replacement when they have cost enough; where spares are too few, when the next host is back."""
        while True:
            yield self._cost.alarm(self._bears)
            self._due, self._over = True, self._job.environment.event()
            while self._due:
                if self._spares.at_hand(self._slow_downs.slow_hosts):
                    self._handled = self._job.environment.event()
                    self._job.ask(self._replace)
                    yield self._handled
                else:
                    yield self._spares.next_back() | self._over

    def _replace(self) -> Waiting:
        """Save, and restart with spares in place of the slow hosts."""
        hosts = self._slow_downs.slow_hosts
        if self._due and self._spares.at_hand(hosts):
            self._forget()
            yield from self._job.save()
            for _ in range(hosts):
                self._spares.claim(self._losses.send_one_away())
            self._slow_downs.cure()
            self.replaced += hosts
            yield from self._recovery.replace(hosts)
        self._handled.succeed()
