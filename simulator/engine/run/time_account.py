"""The account of a run's wall clock: every second belongs to one part."""

from __future__ import annotations

import sys

from simulator.engine.run.outcome import PARTS, Episode
from simulator.errors import ConservationError
from simulator.sums import added
from simulator.units import Seconds

Stretches = tuple[tuple[str, Seconds], ...]
"""Parts, and how long each lasts."""


class TimeAccount:
    def __init__(self, record: bool = False) -> None:
        self.parts: dict[str, Seconds] = dict.fromkeys(PARTS, 0.0)
        self.timeline: list[Episode] = []
        self.cause = ""
        """What interrupted the run last, for the timeline."""
        self._record = record
        self.part = ""
        """What the time that passes now is booked on."""
        self._began = 0.0
        self._in_turn: Stretches = ()
        self._bookings = 0

    def begin(self, part: str, now: Seconds) -> None:
        """Begin a stretch of time that will be booked on `part`."""
        self.part, self._began = part, now

    def begin_in_turn(self, stretches: Stretches, now: Seconds) -> None:
        """Begin several stretches, one after the other."""
        self.part, self._began, self._in_turn = stretches[0][0], now, stretches

    def end_in_turn(self) -> None:
        """Book those stretches."""
        for part, seconds in self._in_turn:
            self._book(part, seconds)
        self.part, self._in_turn = "", ()

    def under_way(self, now: Seconds) -> Seconds:
        """Return how long the stretch that has begun lasts already."""
        return now - self._began if self.part else 0.0

    def end(self, seconds: Seconds) -> None:
        """Book the stretch that has begun as `seconds`, and of several in turn those that have begun."""
        for part, whole in self._in_turn[:-1]:
            self.part = part
            if seconds <= whole:
                break
            self._book(part, whole)
            seconds -= whole
        else:
            self.part = self._in_turn[-1][0] if self._in_turn else self.part
        self._book(self.part, seconds)
        self.part, self._in_turn = "", ()

    def _book(self, part: str, seconds: Seconds) -> None:
        self.parts[part] += seconds
        self._bookings += 1
        if self._record:
            self._note(part, seconds, self.cause)
            self._began += seconds

    def trained(self, seconds: Seconds, work: Seconds, saving: Seconds, factor: float) -> None:
        """Book the stretch that has begun as training that did `work` at `factor` times the time of full speed."""
        self.parts["train"] += work
        if factor == 1.0:
            self.parts["checkpoint"] += seconds - work if saving else 0.0
        else:
            self.parts["checkpoint"] += saving
            self.parts["degraded"] += seconds - saving - work
        self._bookings += 1
        if self._record:
            self._note("train", seconds, "")
        self.part = ""

    def lose(self, work: Seconds) -> None:
        """Book work that was done as lost."""
        self.parts["train"] -= work
        self.parts["lost"] += work
        self._bookings += 1

    def close(self, now: Seconds, work: Seconds) -> None:
        """End the account at `now` with `work` done. Raises ConservationError where that is not what was booked.

        What is booked may differ by rounding: one unit in the last place of the clock a booking, and a few more for
        the divisions of `Progress`.
        """
        rounding = 4 * sys.float_info.epsilon * (self._bookings + 8) * now
        for what, booked, expected in (
            ("wall clock", added(self.parts.values()), now),
            ("useful work", self.parts["train"], work),
        ):
            if not abs(booked - expected) <= rounding:
                raise ConservationError(
                    f"{what}: {booked!r} s are booked in {self._bookings:,} parts where {expected!r} s passed; "
                    f"{self.parts}"
                )
        self.parts["train"] = work

    def _note(self, part: str, seconds: Seconds, cause: str) -> None:
        if seconds > 0:
            self.timeline.append(Episode(part, self._began, seconds, cause))
