"""A unit runs slowly while it lasts, and every step waits for it."""

from __future__ import annotations

from typing import ClassVar

from simulator.reliability.effects.base import Effect, Lasting, Steps, StruckJob
from simulator.reliability.incident import Incident


class Slow(Effect):
    kind: ClassVar[str] = "slow"
    has_length: ClassVar[bool] = True

    def strike(self, job: StruckJob, incident: Incident, cause: Lasting) -> Steps:
        job.slow_down(incident)
        yield from ()
        return False

    def strike_down(self, job: StruckJob, incident: Incident) -> bool:
        job.slow_down(incident)
        return False
