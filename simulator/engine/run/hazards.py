"""What makes failures strike: a process for the units, one for the job itself, and one for each repeat."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import simpy

from simulator.engine.run.clock import Clock
from simulator.reliability.incident import Incident

Strike = Callable[[Incident], None]


def hazard(clock: Clock, incidents: Iterable[Incident], strike: Strike) -> simpy.events.ProcessGenerator:
    """Strike with each of `incidents` when `clock` shows its time."""
    for incident in incidents:
        yield clock.alarm(incident.time)
        strike(incident)
