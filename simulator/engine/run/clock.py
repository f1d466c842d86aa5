"""Clocks that stand still while the job does not do what they measure, with alarms on them.

A hazard that strikes only a job that is up waits for a time on a clock that runs only then. One timeout of simpy is
pending for a clock, that of its earliest alarm.
"""

from __future__ import annotations

import heapq
import math

import simpy

from simulator.units import Number, Seconds


class Alarm(simpy.Event):
    def ring(self) -> None:
        """Happen now: whoever waits for it goes on within the event of the clock, which saves one of its own."""
        self._ok, self._value = True, None
        waiting, self.callbacks = self.callbacks, None  # type: ignore[assignment]
        for go_on in waiting:
            go_on(self)


class Clock:
    def __init__(self, environment: simpy.Environment, pace: Number = 1.0) -> None:
        self._environment = environment
        self._pace = pace
        self._shown = 0.0
        """What it showed when it was last started, stopped or set."""
        self._since: Seconds | None = None
        """When that was; None while it stands still."""
        self._alarms: list[tuple[Seconds, int, Alarm]] = []
        self._set = 0
        """Alarms so far: those for the same time ring in the order in which they were set."""
        self._wound = 0
        """Timeouts so far; only the last of them rings."""
        self._ringing = False
        """Whoever waits for an alarm may set the next one before the clock is wound again."""

    @property
    def time(self) -> Seconds:
        """What it shows now."""
        if self._since is None:
            return self._shown
        return self._shown + (self._environment.now - self._since) * self._pace

    def alarm(self, time: Seconds) -> Alarm:
        """Return an event that happens when the clock shows `time`, or when it next runs if that is past."""
        alarm = Alarm(self._environment)
        if time < math.inf:
            self._set += 1
            heapq.heappush(self._alarms, (time, self._set, alarm))
            if self._alarms[0][2] is alarm and not self._ringing:
                self._wind()
        return alarm

    def start(self) -> None:
        if self._since is None:
            self._since = self._environment.now
            self._wind()

    def stop(self) -> None:
        """Stand still; no alarm rings until it is started again."""
        if self._since is not None:
            self._shown += (self._environment.now - self._since) * self._pace
            self._since = None
            self._wound += 1

    def run_at(self, pace: Number) -> None:
        """Show `pace` seconds for a second that passes from here on."""
        self._shown, self._pace = self.time, pace
        if self._since is not None:
            self._since = self._environment.now
            self._wind()

    def set_to(self, time: Seconds) -> None:
        """Show `time` from here on."""
        self._shown = time
        if self._since is not None:
            self._since = self._environment.now
            self._wind()

    def _wind(self) -> None:
        """Replace the pending timeout by that of the earliest alarm."""
        self._wound += 1
        if self._alarms and self._since is not None and self._pace > 0:
            left = (self._alarms[0][0] - self.time) / self._pace
            self._environment.timeout(left if left > 0 else 0.0, self._wound).callbacks.append(self._ring)

    def _ring(self, timeout: simpy.Event) -> None:
        if timeout.value == self._wound:
            self._ringing = True
            heapq.heappop(self._alarms)[2].ring()
            self._ringing = False
            if self._since is not None:
                self._wind()
