"""The account of a run's wall clock: every second belongs to one part."""

from __future__ import annotations

import math

from simulator.engine.outcome import PARTS, Episode
from simulator.sums import added
from simulator.units import Seconds


class Ledger:
    def __init__(self, record: bool = False) -> None:
        self.parts: dict[str, Seconds] = dict.fromkeys(PARTS, 0.0)
        self.timeline: list[Episode] = []
        self._record = record
        self._open: tuple[tuple[str, Seconds], ...] = ()
        self._opened = 0.0
        self.cause = ""
        """What interrupted the run last, for the timeline."""

    def open(self, now: Seconds, *segments: tuple[str, Seconds]) -> Seconds:
        """Begin segments that follow one another; return how long they take together."""
        self._open, self._opened = segments, now
        return added([seconds for _, seconds in segments])

    def close(self, now: Seconds | None = None) -> None:
        """Book what was begun: all of it, or what of it lies before `now`."""
        if now is None and not self._record:
            for part, seconds in self._open:
                self.parts[part] += seconds
        else:
            self._close_at(math.inf if now is None else now)
        self._open = ()

    def _close_at(self, now: Seconds) -> None:
        start = self._opened
        for part, whole in self._open:
            seconds = min(whole, now - start)
            self.parts[part] += seconds
            if self._record and seconds > 0:
                self.timeline.append(Episode(part, start, seconds, self.cause))
            start += seconds

    def trained(self, start: Seconds, time: Seconds, work: Seconds, saving: Seconds, factor: float) -> None:
        """Book a stretch of training that did `work`; the work itself is booked at the end of the run."""
        if factor == 1.0:
            if saving:
                self.parts["checkpoint"] += time - work
        else:
            self.parts["checkpoint"] += saving
            self.parts["degraded"] += time - saving - work
        if self._record and time > 0:
            self.timeline.append(Episode("train", start, time))
