"""A published record of failures, as counted, and the rates that follow from it.

rate of one unit = count / (units x wall clock), or over the uptime where hazards run on uptime: the counts
of a job that is up 94.5% of the time are 1/0.945 = 1.058 times as dense there.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from simulator.errors import ScenarioError
from simulator.reliability.durations.base import Duration
from simulator.reliability.failures.base import Cause, EffectName, Unit
from simulator.reliability.failures.exponential import Exponential
from simulator.reliability.fleet import Exposure, Planned
from simulator.units import Count, Number, Seconds, Share


@dataclass(frozen=True, kw_only=True)
class Counted:
    """Failures of one component that a source counted."""

    name: str
    unit: Unit
    units: Count
    """How many of them there were."""
    count: Number
    effect: EffectName = "crash"
    detect: Duration | None = None
    repair: Duration | None = None
    drains: Share = 1.0


@dataclass(frozen=True, kw_only=True)
class CountedStops:
    count: Number
    time: Duration | None = None
    """Length of a stop; as long as a restart where left out."""


@dataclass(frozen=True, kw_only=True)
class Preset:
    source: str
    gpus: Count
    hosts: Count
    wall: Seconds
    """Wall clock of the observation."""
    uptime: Share = 1.0
    """Share of it that the job was up."""
    counted: tuple[Counted, ...]
    planned: CountedStops | None = None
    note: str = ""

    def exposed(self, exposure: Exposure) -> Seconds:
        """Return the seconds of the observation on the clock of `exposure`."""
        return self.wall if exposure == "wall" else self.wall * self.uptime

    def causes(self, exposure: Exposure) -> tuple[Cause, ...]:
        return tuple(
            Exponential(
                name=row.name,
                unit=row.unit,
                mtbf=self._mtbf(row, exposure),
                effect=row.effect,
                detect=row.detect,
                repair=row.repair,
                drains=row.drains,
            )
            for row in self.counted
            if row.count > 0
        )

    def _mtbf(self, row: Counted, exposure: Exposure) -> Seconds:
        mtbf = self.exposed(exposure) * row.units / row.count
        if not 0 < mtbf < math.inf:
            raise ScenarioError(f"failures: {row.name}: counted in no time or on no units; all are more than zero")
        return mtbf

    def stops(self, exposure: Exposure) -> Planned | None:
        if self.planned is None or self.planned.count <= 0:
            return None
        return Planned(every=self.exposed(exposure) / self.planned.count, time=self.planned.time)
