"""What every recovery is: notice, find out, get hosts, start again.

The defaults reproduce "over 90% effective training time" of Llama 3 (arXiv 2407.21783, 3.3.4) together with a
save of 10 s every 600 s; stall, interval, detection and restart cannot be told apart from that one figure.
"""

from __future__ import annotations

from abc import ABC
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar, Self

from simulator.reliability.durations.base import Duration
from simulator.reliability.durations.fixed import Fixed
from simulator.reliability.durations.lognormal import LognormalDuration
from simulator.sums import added
from simulator.units import Count, Number, Seconds, Share


@dataclass(frozen=True, kw_only=True)
class Phase:
    """A part of a restart that may grow with the job: time x (gpus / size)^exponent.

    Communicator initialisation went from 17 s on 16K GPUs to 200 s on 98K, an exponent of 1.4; whole cold
    starts from 200 s to 900 s, an exponent of 0.84 (arXiv 2602.00277, Fig. 2).
    """

    name: str
    """What reports call it."""
    time: Duration
    """How long it takes, at `size` GPUs where that is given."""
    size: Count | None = None
    """GPUs at which `time` holds."""
    exponent: Number = 0.0
    """How it grows with the job; 0 not at all."""


@dataclass(frozen=True, kw_only=True)
class Recovery(ABC):
    kind: ClassVar[str]
    detect: Duration = field(default_factory=lambda: Fixed(time=60.0))
    """Until a failure is noticed, where its cause does not say: active checks 2-60 s, a hang 600 s, a collective's
    timeout 600-1,800 s."""
    missed: Share = 0.0
    """Share of failures that the check misses, so that they are noticed only after `timeout`."""
    timeout: Duration = field(default_factory=lambda: Fixed(time=1800.0))
    """Until a missed failure is noticed all the same, such as the timeout of a collective."""
    diagnose: Duration = field(default_factory=lambda: Fixed(time=0.0))
    """Until it is known what to do: under 600 s automatic, over 1,800 s by hand."""
    restart: Duration = field(default_factory=lambda: LognormalDuration(mean=480.0, cv=0.5))
    """From the decision to training again, hosts being there."""
    phases: tuple[Phase, ...] = ()
    """The parts of a restart in order; given, they replace `restart`."""
    fails: Share = 0.0
    """Share of restarts that do not come up and are tried again."""
    repair: Duration | None = None
    """How long a host that was taken away is gone, where its cause does not say."""
    misdiagnosed: Share = 0.0
    """Share of failures on a host for which another host is taken away: the sick one fails again, within
    `failures.repeat_within`, until it is found."""
    technicians: Count | None = None
    """Hosts that can be repaired at a time; no limit where left out."""

    def mean_down(self, gpus: int, load: Seconds = 0.0) -> Seconds:
        """Return the mean time from a failure to training again, with a save that takes `load` to read, if nothing
        else strikes and hosts are there."""
        noticed = (1 - self.missed) * self.detect.expected() + self.missed * self.timeout.expected()
        return noticed + self.diagnose.expected() + self.mean_restart(gpus) + load

    def mean_restart(self, gpus: int) -> Seconds:
        """Return the mean time of one restart that nothing strikes."""
        once = self.restart.expected()
        if self.phases:
            once = added(phase.time.expected() * growth(phase, gpus) for phase in self.phases)
        return once / (1 - self.fails)

    def with_restarts(self, times: Number) -> Self:
        """Return the recovery with all that follows the diagnosis `times` as long."""
        kept = {"detect", "timeout", "diagnose", "repair"}
        times_of = {field.name: getattr(self, field.name) for field in fields(self) if field.name not in kept}
        longer = {name: value.scaled(times) for name, value in times_of.items() if isinstance(value, Duration)}
        phases = tuple(replace(phase, time=phase.time.scaled(times)) for phase in self.phases)
        changed: dict[str, Any] = {**longer, "phases": phases}
        return replace(self, **changed)


def growth(phase: Phase, gpus: int) -> float:
    """Return the factor on a phase's time in a job of `gpus` GPUs."""
    return (gpus / phase.size) ** phase.exponent if phase.size and phase.exponent else 1.0
