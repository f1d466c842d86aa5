"""What a whole fleet suffers: its causes, their scale, the clock they run on, and what makes hosts differ."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from simulator.reliability.durations.base import Duration
from simulator.reliability.failures.base import Cause
from simulator.sums import added
from simulator.units import Count, Number, Seconds, Share

Exposure = Literal["uptime", "wall"]


@dataclass(frozen=True, kw_only=True)
class Lemons:
    """Hosts that fail more often than the others. The mean of the fleet stays what the causes say."""

    share: Share
    """Share of hosts that fail more often."""
    factor: Number
    """Hazard of a lemon over that of a healthy host."""


@dataclass(frozen=True, kw_only=True)
class BurnIn:
    """Hosts of a new fleet that are defective from the start and fail once, beyond the long-run rates."""

    share: Share = 0.1
    """SuperBench found 10.4% of hosts defective at bring-up."""
    time: Seconds = 7 * 86400.0
    """Mean time until a defect shows."""


@dataclass(frozen=True, kw_only=True)
class Stop:
    """A stop announced for a moment of the run."""

    at: Seconds
    """Moment of the run at which it begins."""
    time: Seconds
    """How long it takes."""


@dataclass(frozen=True, kw_only=True)
class Planned:
    """Stops for firmware, configuration and maintenance: the job saves first, then stops."""

    every: Seconds
    """Mean time between stops, on the clock of the exposure; drawn without memory."""
    time: Duration | None = None
    """Length of a stop; as long as a restart where left out."""
    merge: Seconds = 0.0
    """A stop that is due within this time of a failure is done during that recovery."""


@dataclass(frozen=True, kw_only=True)
class Failures:
    causes: tuple[Cause, ...] = ()
    """What fails, how often, and what that does."""
    scale: Number = 1.0
    """Factor on every rate, planned stops excluded."""
    exposure: Exposure = "uptime"
    """The clock of the hazards: ``uptime`` runs while the job trains or saves, ``wall`` always, so that failures
    strike recoveries too."""
    planned: Planned | tuple[Stop, ...] | None = None
    """Stops that are no failures: maintenance, or a list of `{at, time}`."""
    size_exponent: Number = 0.0
    """Rates of units other than the job grow by (gpus / size)^exponent beyond linear; 0.94 takes Meta's rate on 32K
    GPUs to that on 98K."""
    size: Count | None = None
    """GPUs at which the rates hold; the preset's where one is used."""
    lemons: Lemons | None = None
    """A part of the hosts fails more often than the rest."""
    burn_in: BurnIn | None = None
    """Hosts that are defective from the start, each of which fails once."""
    repeat: Share = 0.0
    """Share of failures that are repeats on a host just brought back; 12% on Titan. The total rate stays."""
    repeat_within: Seconds = 3600.0
    """How soon repeats strike."""
    evict_after: Count | None = None
    """Failures of one host after which it is never used again."""
    preset: str | None = None
    """Published counts of a real fleet, by name."""
    uptime: Share = 1.0
    """Share of the wall clock that the preset's source was up; chooses the denominator of its rates."""

    def factor(self, unit: str, gpus: int) -> float:
        """Return the factor on the rate of causes of `unit` in a job of `gpus` GPUs."""
        if unit == "job" or self.size is None or not self.size_exponent:
            return self.scale
        return self.scale * float((gpus / self.size) ** self.size_exponent)

    def rate(self, units: Mapping[str, int]) -> float:
        """Return the interruptions per second of exposure that are expected of a job with these units."""
        return added(
            self.factor(cause.unit, units["gpu"]) * cause.rate(units.get(cause.unit, 0)) * cause.interrupting
            for cause in self.causes
            if cause.interrupts
        )

    def warnings(self) -> tuple[str, ...]:
        return tuple(warning for cause in self.causes for warning in cause.warnings())
