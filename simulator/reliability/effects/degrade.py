"""A unit keeps a part of its links while it lasts, and the step takes what the network then allows."""

from __future__ import annotations

from typing import ClassVar

from simulator.reliability.effects.base import Effect, Lasting, Steps, StruckJob
from simulator.reliability.incident import Incident


class Degrade(Effect):
    kind: ClassVar[str] = "degrade"
    has_length: ClassVar[bool] = True

    def strike(self, job: StruckJob, incident: Incident, cause: Lasting) -> Steps:
        job.degrade(incident)
        yield from ()
        return False

    def strike_down(self, job: StruckJob, incident: Incident) -> bool:
        job.degrade(incident)
        return False
