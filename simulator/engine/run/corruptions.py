"""Silent damage to the state of training: a process waits until it is found, then training goes back."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import simpy

from simulator.engine.run.checkpoint_recovery import CheckpointRecovery
from simulator.engine.run.job import Job, Waiting
from simulator.engine.run.losses import Losses
from simulator.engine.run.progress import Saved
from simulator.engine.run.recovery import Recovery
from simulator.reliability.incident import Incident
from simulator.units import Seconds

_ROUNDING: Seconds = 1e-6
"""By so much the work at which a save was made may seem to be less than that of damage done during the save."""


class Corruption(NamedTuple):
    incident: Incident
    since: Seconds
    """Work at which it began."""
    clean: Saved
    """The last save before it."""


class Corruptions:
    def __init__(self, job: Job, losses: Losses, recovery: Recovery, saves: CheckpointRecovery) -> None:
        self.began: list[Callable[[], None]] = []
        """Told when the state is damaged."""
        self._job = job
        self._losses = losses
        self._recovery = recovery
        self._saves = saves
        self._hidden: list[Corruption] = []
        job.went_back.append(self._undo)

    def begin(self, incident: Incident) -> None:
        """Damage the state, until that is found after some time of training."""
        corruption = Corruption(incident, self._job.progress.work, self._job.progress.newest())
        self._hidden.append(corruption)
        found = self._job.clocks.up.time + self._losses.unnoticed(incident)
        self._job.environment.process(self._hide(corruption, found))
        for tell in self.began:
            tell()

    def _hide(self, corruption: Corruption, found: Seconds) -> simpy.events.ProcessGenerator:
        yield self._job.clocks.up.alarm(found)
        if corruption in self._hidden:
            self._job.ask(lambda: self._find(corruption))

    def _find(self, corruption: Corruption) -> Waiting:
        """Go back to the last save before the state was damaged, or to the start where that was not kept."""
        if corruption in self._hidden:
            self._hidden.remove(corruption)
            loss = self._losses.lose(corruption.incident, unnoticed=0.0)
            place = self._saves.kept(corruption.clean)
            yield from self._recovery.recover(loss, to=lambda: place)

    def _undo(self) -> None:
        """Forget those that began after the work to which training has gone back; damage during a save is in it."""
        if not self._hidden:
            return
        work = self._job.progress.work
        self._hidden = [one for one in self._hidden if one.clean.work < work and one.since < work + _ROUNDING]
