"""A published record of failures, as counted, and the rates that follow from it.

rate of one unit = count / (units x wall clock), or over the uptime where hazards run on uptime: the counts
of a job that is up 94.5% of the time are 1/0.945 = 1.058 times as dense there.

A host is not the same everywhere: what was counted on servers of eight GPUs is a rate per GPU that they serve. A tray
of four GPUs has half the processors, drives and power supplies of such a server, so it fails half as often.
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
    """Share of events that take a host away; the others need a restart only."""
    slow: Number = 1.1
    """Factor on the step while an episode of effect slow lasts."""
    lasts: Duration | None = None
    """Length of an episode."""


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

    def causes(self, exposure: Exposure, gpus_per_host: Count | None = None) -> tuple[Cause, ...]:
        """Return the causes on hosts of `gpus_per_host` GPUs, on the hosts that were counted where left out.

        Raises ScenarioError where something was counted in no time or on no units.
        """
        size = 1.0 if gpus_per_host is None else gpus_per_host * self.hosts / self.gpus
        return tuple(
            Exponential(
                name=row.name,
                unit=row.unit,
                mtbf=self._mtbf(row, exposure) / (size if row.unit == "host" else 1.0),
                effect=row.effect,
                detect=row.detect,
                repair=row.repair,
                drains=row.drains,
                slow=row.slow,
                lasts=row.lasts,
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
