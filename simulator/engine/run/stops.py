"""Planned stops: the job saves first, then stops. A process waits for each until it is due."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import accumulate

import simpy

from simulator.engine.run.inputs import RunInput
from simulator.engine.run.job import Job, Waiting
from simulator.engine.run.states import STOPPED
from simulator.reliability.durations.draw import draws
from simulator.reliability.durations.exponential import ExponentialDuration
from simulator.reliability.fleet import Planned
from simulator.reliability.incidents import Stream
from simulator.units import Seconds


class PlannedStops:
    def __init__(self, job: Job, run: RunInput, stream: Stream) -> None:
        self.done = 0
        self._job = job
        self._ahead, self._merge = _stops(run, stream)
        self._at, self._left = math.inf, 0.0
        """When the next one is due, and how much of it is left to do."""
        self._next()
        self._await()

    def _next(self) -> None:
        self._at, self._left = next(self._ahead, (math.inf, 0.0))

    def _await(self) -> None:
        """Wait for the stop that comes next."""
        if self._at < math.inf:
            self._job.environment.process(self._wait(self._at))

    def _wait(self, due: Seconds) -> simpy.events.ProcessGenerator:
        yield self._job.clocks.units.alarm(due)
        self._job.ask(lambda: self._stop(due))

    def _stop(self, due: Seconds) -> Waiting:
        """Save, and stop; nothing, where a recovery has done this stop."""
        if self._at == due:
            yield from self._job.save()
            yield from self._job.spend("planned", self._left, STOPPED)
            self.done += 1
            self._next()
            self._await()

    def merge(self, time: Seconds) -> None:
        """Do the stops that are due during a recovery that took `time`; a longer stop goes on after it."""
        clock, due = self._job.clocks.units.time, self._at
        while self._at - clock <= self._merge:
            self._left -= time
            if self._left > 0:
                self._at = min(self._at, clock)
                break
            self.done += 1
            self._next()
        if self._at != due:
            self._await()


def _stops(run: RunInput, stream: Stream) -> tuple[Iterator[tuple[Seconds, Seconds]], Seconds]:
    """Return planned stops in order, (time on the exposure's clock, length), and how near a failure they merge."""
    planned = run.failures.planned
    if not isinstance(planned, Planned):
        return iter(sorted((stop.at, stop.time) for stop in planned or ())), 0.0
    lengths = draws(planned.time or run.recovery.restart, lambda: stream("planned time"))
    gaps = draws(ExponentialDuration(mean=planned.every), lambda: stream("planned"))
    return zip(accumulate(gaps), lengths, strict=False), planned.merge
