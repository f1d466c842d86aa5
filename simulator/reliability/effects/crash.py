"""The job stops at once."""

from __future__ import annotations

from typing import ClassVar

from simulator.reliability.effects.base import Effect, Lasting, Steps, StruckJob
from simulator.reliability.incident import Incident
from simulator.units import Share


class Crash(Effect):
    kind: ClassVar[str] = "crash"

    def interrupting(self, cause: Lasting) -> Share:
        return 1.0

    def strike(self, job: StruckJob, incident: Incident, cause: Lasting) -> Steps:
        return job.fail(incident)

    def strike_down(self, job: StruckJob, incident: Incident) -> bool:
        return job.fail_again(incident)
