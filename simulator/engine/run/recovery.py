"""From a failure to training again: notice it, find out, get hosts, restart from a save.

Where hazards run on the wall clock, failures strike here too. Before the restart those of hardware add to what has
to be replaced, for nobody has noticed yet or everybody is waiting anyway, and those of the job itself cannot happen;
during the restart they undo it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import simpy

from simulator.engine.run.checkpoint_recovery import CheckpointRecovery
from simulator.engine.run.job import Job, Place, Waiting
from simulator.engine.run.losses import Loss, Losses
from simulator.engine.run.restart_times import RestartTimes
from simulator.engine.run.spares import Spares
from simulator.units import Count, Seconds


class Hosts(Protocol):
    """The hosts of the job, as far as they are missing."""

    def miss(self, loss: Loss) -> None:
        """Note hosts that are lost while the job is down or goes down."""

    def awaited(self) -> simpy.Event | None:
        """Return what to wait for before the job can restart; None where it has the hosts it needs."""

    def gather(self) -> None:
        """Restart with all that have their hosts."""


class WholeJob:
    """A job that needs all its hosts."""

    def __init__(self, spares: Spares) -> None:
        self._spares = spares
        self._claims: list[simpy.Event] = []

    def miss(self, loss: Loss) -> None:
        if loss.away and (claim := self._spares.claim(loss.away)) is not None:
            self._claims.append(claim)

    def awaited(self) -> simpy.Event | None:
        while self._claims and self._claims[-1].triggered:
            self._claims.pop()
        return self._claims[-1] if self._claims else None

    def gather(self) -> None:
        """There is nothing to gather."""


class Recovery:
    def __init__(
        self, job: Job, hosts: Hosts, losses: Losses, saves: CheckpointRecovery, restart_times: RestartTimes
    ) -> None:
        self._job = job
        self._hosts = hosts
        self._losses = losses
        self._saves = saves
        self._times = restart_times
        self._lost_since: Count = 0
        """Hosts that further failures took before the restart."""
        self._undone: Loss | None = None
        """The failure that undid a restart."""
        self._goes_to: Callable[[], Place] | None = None
        """Where a recovery under way would go back to."""

    def recover(self, loss: Loss, to: Callable[[], Place] | None = None) -> Waiting:
        """Bring the job back from a save: the best one there is, or where `to` says."""
        job = self._job
        job.progress.interrupt(job.environment.now)
        self._goes_to = to or self._best
        while True:
            self._hosts.miss(loss)
            unnoticed = self._losses.unnoticed(loss.incident) if loss.unnoticed is None else loss.unnoticed
            diagnosis = self._times.diagnosis()
            if not job.clocks.wall and self._hosts.awaited() is None:
                # Nothing strikes until it is up again, so that nothing else can happen to it either.
                self._hosts.gather()
                place = self._goes_to()
                time = self._times.time(loss.hosts, waited=False) + self._saves.load(place)
                yield from job.spend_in_turn(("detect", unnoticed), ("diagnose", diagnosis), ("restart", time))
                break
            yield from job.spend("detect", unnoticed)
            if diagnosis > 0:
                yield from job.spend("diagnose", diagnosis)
            waited = False
            while (awaited := self._hosts.awaited()) is not None:
                waited = True
                yield from job.wait("wait", awaited)
            self._hosts.gather()
            place = self._goes_to()
            time = self._times.time(loss.hosts + self._lost_since, waited=waited) + self._saves.load(place)
            self._lost_since = 0
            if (again := (yield from self.restart(time))) is None:
                break
            loss = again
        self._goes_to = None
        job.go_back(place)

    def restart(self, time: Seconds) -> Waiting:
        """Bring processes up for `time`; return the failure that undid it, if one did."""
        self._undone = None
        yield from self._job.restart(time)
        return self._undone

    def replace(self, hosts: Count) -> Waiting:
        """Restart with spares in place of `hosts` hosts, from a save that has just been made."""
        time = self._times.time(hosts, waited=False) + self._saves.load(self._best())
        if (undone := (yield from self.restart(time))) is not None:
            yield from self.recover(undone)

    def lose_more(self, loss: Loss, *, restarting: bool) -> bool:
        """Lose what a further failure takes while the job is down; return whether it undoes a restart."""
        if restarting and self._undone is None:
            self._undone = loss
            return True
        self._lost_since += loss.hosts
        self._hosts.miss(loss)
        return False

    def cut_off(self) -> None:
        """Go back at once where a recovery is under way."""
        if self._goes_to is not None:
            self._job.go_back(self._goes_to())

    def _best(self) -> Place:
        return self._saves.best(self._job.environment.now)
