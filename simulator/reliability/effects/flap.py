"""A link goes down and comes back: collectives wait for it, and kill the job when they time out first.

A job that is down does not wait for a link.
"""

from __future__ import annotations

from typing import ClassVar

from simulator.reliability.effects.base import Effect, Lasting, Steps, StruckJob
from simulator.reliability.incident import Incident
from simulator.units import Share


class Flap(Effect):
    kind: ClassVar[str] = "flap"
    has_length: ClassVar[bool] = True
    needs_repair: ClassVar[bool] = False

    def interrupting(self, cause: Lasting) -> Share:
        return cause.lasts.longer_than(cause.timeout) if cause.lasts else 0.0

    def strike(self, job: StruckJob, incident: Incident, cause: Lasting) -> Steps:
        outage = job.length(incident)
        if outage <= cause.timeout:
            return job.stall(outage)
        failure = incident._replace(away=None)
        return job.fail(failure, unnoticed=cause.timeout, repaired_in=outage)
