"""Which save a run goes back to after a failure: the one from which it is soonest where it was."""

from __future__ import annotations

import math
from collections.abc import Iterator

from simulator.engine.run.job import Place
from simulator.engine.run.progress import Progress, Saved
from simulator.reliability.checkpointing.tier import Tier
from simulator.reliability.failures.base import Cause
from simulator.reliability.populations import peers_survive
from simulator.units import Count, Seconds

_RADIUS = {"process": 0, "host": 1, "rack": 2}
_BLAST = {"job": 0, "gpu": 1, "nic": 1, "link": 1, "host": 1, "switch": 2, "rack": 2, "pod": 3, "power": 3}


class CheckpointRecovery:
    def __init__(self, progress: Progress, hosts: Count, coin: Iterator[float]) -> None:
        self._progress = progress
        self._hosts = hosts
        self._coin = coin
        self._alone = len(progress.plan.tiers) == 1 and progress.plan.tiers[0].survives == 1.0

    def lose(self, cause: Cause, lost: Count) -> None:
        """Lose the saves of every tier that does not survive the failure."""
        if self._alone:
            return
        for number, tier in enumerate(self._progress.plan.tiers):
            if not self._survives(tier, cause, lost):
                self._progress.destroy(number)

    def _survives(self, tier: Tier, cause: Cause, lost: Count) -> bool:
        if isinstance(tier.survives, str):
            if _BLAST[cause.unit] > _RADIUS[tier.survives]:
                return False
            if tier.peers < 2 or lost < tier.peers:
                return True
            return next(self._coin) < peers_survive(self._hosts, lost, tier.peers)
        return tier.survives >= 1 or next(self._coin) < tier.survives

    def best(self, now: Seconds) -> Place:
        """Return the save with the least loading and work to do again, or None where there is none."""
        found: Place = None
        least = math.inf
        for number, tier in enumerate(self._progress.plan.tiers):
            saved = self._progress.usable(number, now)
            if saved is not None and (cost := tier.load - saved.work) < least:
                least, found = cost, (number, saved)
        return found

    def load(self, place: Place) -> Seconds:
        """Return the time to load a save."""
        return self._progress.plan.tiers[place[0]].load if place else 0.0

    def kept(self, clean: Saved) -> Place:
        """Return an old save to the farthest tier if it is still there, else None: the very start."""
        plan = self._progress.plan
        if not plan.tiers:
            return None
        newer = math.ceil((self._progress.work - clean.work) / plan.tiers[-1].interval) - 1
        return (len(plan.tiers) - 1, clean) if plan.keep is None or newer < plan.keep else None
