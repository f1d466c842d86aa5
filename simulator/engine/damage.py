"""What a failure takes away, and how long it goes unnoticed: the draws of a run, by cause."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from simulator.engine.spare_pool import SparePool
from simulator.reliability.durations.draw import coin, draws
from simulator.reliability.fleet import Failures
from simulator.reliability.incidents import Incident, IncidentQueue, Stream, all_causes
from simulator.reliability.recovery.base import Recovery
from simulator.reliability.spares import hosts_taken
from simulator.reliability.suspects import Suspects
from simulator.units import Count, Seconds


class Damage:
    def __init__(
        self,
        failures: Failures,
        recovery: Recovery,
        hosts: Count,
        hosts_of: Mapping[str, int],
        stream: Stream,
    ) -> None:
        self.causes = all_causes(failures)
        self.labels = [cause.label for cause in self.causes]
        self.notice = [cause.seconds_of_notice() for cause in self.causes]
        self.counts = [0] * len(self.causes)
        """Interruptions by cause."""
        self._takes = [hosts_taken(cause, hosts_of) for cause in self.causes]
        usual = draws(recovery.detect, lambda: stream("detect"))
        self._detect = [
            draws(cause.detect, lambda number=number: stream("detect", number)) if cause.detect else usual  # type: ignore[misc]
            for number, cause in enumerate(self.causes)
        ]
        self._mend = mend = draws(recovery.repair, lambda: stream("repair")) if recovery.repair else None
        self._repair: list[Iterator[Seconds] | None] = [
            draws(cause.repair, lambda number=number: stream("repair", number)) if cause.repair else mend  # type: ignore[misc]
            for number, cause in enumerate(self.causes)
        ]
        self._lasts = [
            draws(cause.lasts, lambda number=number: stream("lasts", number)) if cause.lasts else None  # type: ignore[misc]
            for number, cause in enumerate(self.causes)
        ]
        self._missed = recovery.missed
        self._miss = coin(lambda: stream("missed"))
        self._timeout = draws(recovery.timeout, lambda: stream("timeout"))
        self._drain = coin(lambda: stream("drains"))
        self._repeat = failures.repeat
        self._within = failures.repeat_within
        self._again = coin(lambda: stream("repeat"))
        self._misdiagnosed = recovery.misdiagnosed
        self._blame = coin(lambda: stream("misdiagnosed"))
        self._suspects = (
            Suspects(hosts, failures.lemons, failures.evict_after, coin(lambda: stream("hosts")))
            if failures.lemons or failures.evict_after
            else None
        )

    @property
    def evicted(self) -> int:
        return self._suspects.evicted if self._suspects else 0

    def strikes(self, incident: Incident) -> Incident | None:
        """Return the incident with the host it strikes, or None where its host has been evicted before."""
        if self._suspects is None or incident.host is not None or not self.causes[incident.cause].on_host:
            return incident
        host = self._suspects.struck()
        return None if host is None else incident._replace(host=host)

    def take(self, incident: Incident, pool: SparePool, queue: IncidentQueue, clock: Seconds, now: Seconds) -> Count:
        """Count an interruption, send its hosts to repair, and return how many it took."""
        number = incident.cause
        self.counts[number] += 1
        cause = self.causes[number]
        if self._repeat and cause.on_host and next(self._again) < self._repeat:
            queue.add(Incident(clock + next(self._again) * self._within, number, incident.host))
        if self._misdiagnosed and cause.on_host and next(self._blame) < self._misdiagnosed:
            queue.add(Incident(clock + next(self._blame) * self._within, number, incident.host))
        hosts = self._takes[number]
        if not hosts or (cause.drains < 1 and next(self._drain) >= cause.drains):
            return 0
        if self._suspects is not None and incident.host is not None:
            self._suspects.strike(incident.host)
        repair = self._repair[number]
        if incident.away is not None and (repair is None or cause.effect != "flap"):
            pool.take(hosts, incident.away, now)
        elif repair is not None:
            pool.take(hosts, next(repair), now)
        return hosts

    def send_away(self, pool: SparePool, now: Seconds) -> None:
        """Send one host to the recovery's repair."""
        if self._mend is not None:
            pool.take(1, next(self._mend), now)

    def unnoticed(self, incident: Incident) -> Seconds:
        """Return the time until the failure is noticed; of a link that is down, when collectives time out."""
        if (cause := self.causes[incident.cause]).effect == "flap":
            return cause.timeout
        if self._missed and next(self._miss) < self._missed:
            return next(self._timeout)
        return next(self._detect[incident.cause])

    def lasts(self, incident: Incident) -> Seconds:
        """Return the length of an episode: slow, degraded, or of a link that is down."""
        if incident.away is not None:
            return incident.away
        lasts = self._lasts[incident.cause]
        return next(lasts) if lasts else 0.0
