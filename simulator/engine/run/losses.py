"""What a failure takes away, and how long it goes unnoticed: the draws of a run, by cause."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from simulator.engine.run.inputs import RunInput
from simulator.engine.run.spares import Spares
from simulator.reliability.blacklist import Blacklist
from simulator.reliability.durations.base import Duration
from simulator.reliability.durations.draw import coin, draws
from simulator.reliability.failures.base import Cause
from simulator.reliability.incident import Incident
from simulator.reliability.incidents import BURN_IN, Stream, all_causes
from simulator.reliability.spares import hosts_taken
from simulator.units import Count, Seconds


class Loss(NamedTuple):
    """An interruption, and the hosts that it took."""

    incident: Incident
    hosts: Count
    away: Count
    """Those of them that a spare must replace: it is known when they are back."""
    unnoticed: Seconds | None
    """Time until the failure is noticed, where it is known already."""


class Losses:
    def __init__(
        self, run: RunInput, spares: Spares, stream: Stream, strike_again: Callable[[Seconds, Incident], None]
    ) -> None:
        failures, recovery = run.failures, run.recovery
        self.causes: tuple[Cause, ...] = all_causes(failures)
        self.counts = [0] * len(self.causes)
        """Interruptions by cause."""
        self.tell: Callable[[Cause, Count], None]
        """Told of each interruption: its cause, and the hosts that it took."""
        self._spares = spares
        self._strike_again = strike_again
        self._takes = [hosts_taken(cause, run.hosts_of, recovery.repair) for cause in self.causes]

        def drawn(duration: Duration | None, *names: object) -> Iterator[Seconds] | None:
            return draws(duration, lambda: stream(*names)) if duration else None

        usual, self._mend = draws(recovery.detect, lambda: stream("detect")), drawn(recovery.repair, "repair")
        each = list(enumerate(self.causes))
        self._detect = [drawn(cause.detect, "detect", number) or usual for number, cause in each]
        self._repair = [drawn(cause.repair, "repair", number) or self._mend for number, cause in each]
        self._lasts = [drawn(cause.lasts, "lasts", number) for number, cause in each]
        self._missed, self._miss = recovery.missed, coin(lambda: stream("missed"))
        self._timeout = draws(recovery.timeout, lambda: stream("timeout"))
        self._drain = coin(lambda: stream("drains"))
        self._within = failures.repeat_within
        self._again = (
            (failures.repeat, coin(lambda: stream("repeat"))),
            (recovery.misdiagnosed, coin(lambda: stream("misdiagnosed"))),
        )
        which = coin(lambda: stream("hosts"))
        self.blacklist = Blacklist(run.units["host"], failures.lemons, failures.evict_after, which)

    def interruptions(self) -> dict[str, int]:
        """Return the interruptions by the name of their cause."""
        counts: dict[str, int] = {}
        for cause, count in zip(self.causes, self.counts, strict=True):
            if count or cause is not BURN_IN:
                counts[cause.label] = counts.get(cause.label, 0) + count
        return counts

    def aimed(self, incident: Incident) -> Incident | None:
        """Return the incident with the host it strikes, or None where its host has been evicted before."""
        if not self.blacklist.tells or incident.host is not None or not self.causes[incident.cause].on_host:
            return incident
        host = self.blacklist.struck()
        return None if host is None else incident._replace(host=host)

    def lose(self, incident: Incident, *, unnoticed: Seconds | None = None, repaired_in: Seconds | None = None) -> Loss:
        """Count an interruption, and send the hosts that it takes to repair.

        `unnoticed` is the time until it is noticed where that is known, `repaired_in` how long they are away where
        neither a log nor a repair time says.
        """
        number, cause = incident.cause, self.causes[incident.cause]
        self.counts[number] += 1
        if cause.on_host:
            for share, chance in self._again:
                if share and next(chance) < share:
                    self._strike_again(next(chance) * self._within, incident)
        hosts = self._takes[number] if incident.away != 0 else 0
        if hosts and cause.drains < 1 and next(self._drain) >= cause.drains:
            hosts = 0
        away = self._send_away(incident, hosts, repaired_in) if hosts else 0
        self.tell(cause, hosts)
        return Loss(incident, hosts, away, unnoticed)

    def _send_away(self, incident: Incident, hosts: Count, repaired_in: Seconds | None) -> Count:
        """Send hosts to repair; return how many a spare must replace: those of which it is known when they are back."""
        if incident.host is not None:
            self.blacklist.strike(incident.host)
        repair = self._repair[incident.cause]
        if incident.away is not None:
            repaired_in = incident.away
        elif repair is not None:
            repaired_in = next(repair)
        if repaired_in is None:
            return 0
        self._spares.send_away(hosts, repaired_in)
        return hosts

    def send_one_away(self) -> Count:
        """Send one host to the recovery's repair; return the hosts that a spare must replace."""
        if self._mend is None:
            return 0
        self._spares.send_away(1, next(self._mend))
        return 1

    def unnoticed(self, incident: Incident) -> Seconds:
        """Return the time until a failure is noticed."""
        if self._missed and next(self._miss) < self._missed:
            return next(self._timeout)
        return next(self._detect[incident.cause])

    def length(self, incident: Incident) -> Seconds:
        """Return the length of an episode: slow, degraded, or of a link that is down."""
        if incident.away is not None:
            return incident.away
        lasts = self._lasts[incident.cause]
        return next(lasts) if lasts else 0.0
