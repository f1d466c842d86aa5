"""How long a restart takes: its phases, the size of the job, warm spares, attempts that fail."""

from __future__ import annotations

from simulator.reliability.durations.draw import coin, draws
from simulator.reliability.incidents import Stream
from simulator.reliability.recovery.base import Recovery, growth
from simulator.reliability.recovery.restart import Restart
from simulator.sums import added
from simulator.units import Count, Seconds


class RestartTimes:
    def __init__(self, recovery: Recovery, gpus: Count, stream: Stream) -> None:
        self._whole = draws(recovery.restart, lambda: stream("restart"))
        self._phases = [
            (draws(phase.time, lambda name=phase.name: stream("restart", name)), growth(phase, gpus))  # type: ignore[misc]
            for phase in recovery.phases
        ]
        in_place = recovery.in_place if isinstance(recovery, Restart) else None
        standby = recovery.standby if isinstance(recovery, Restart) else None
        self._in_place = draws(in_place, lambda: stream("restart", "in place")) if in_place else None
        self._standby = draws(standby, lambda: stream("restart", "standby")) if standby else None
        self._diagnose = draws(recovery.diagnose, lambda: stream("diagnose"))
        self._fails = recovery.fails
        self._failing = coin(lambda: stream("restart fails"))

    def diagnosis(self) -> Seconds:
        return next(self._diagnose)

    def time(self, hosts: Count, *, waited: bool) -> Seconds:
        """Return the time of a restart after `hosts` were lost, attempts that fail included."""
        total = self._once(hosts, waited)
        while self._fails and next(self._failing) < self._fails:
            total += self._once(hosts, waited)
        return total

    def _once(self, hosts: Count, waited: bool) -> Seconds:
        if not hosts and self._in_place is not None:
            return next(self._in_place)
        if hosts and not waited and self._standby is not None:
            return next(self._standby)
        if self._phases:
            return added(next(times) * factor for times, factor in self._phases)
        return next(self._whole)
