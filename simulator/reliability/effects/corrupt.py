"""The state of training is damaged in silence; when that is found, training goes back to a save made before it.

A job that is down has no state that could be damaged.
"""

from __future__ import annotations

from typing import ClassVar

from simulator.reliability.effects.base import Effect, Lasting, Steps, StruckJob
from simulator.reliability.incident import Incident
from simulator.units import Share


class Corrupt(Effect):
    kind: ClassVar[str] = "corrupt"

    def interrupting(self, cause: Lasting) -> Share:
        return 1.0

    def strike(self, job: StruckJob, incident: Incident, cause: Lasting) -> Steps:
        job.corrupt(incident)
        yield from ()
        return False
