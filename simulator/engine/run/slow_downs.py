"""What slows a run down without stopping it: slow hosts and degraded links, each episode a process.

A step waits for the slowest host, so of several slow hosts the worst counts, and so it does of several units of one
kind that are degraded alike; those of different kinds are priced together by the network.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator
from typing import Any, NamedTuple

import simpy

from simulator.engine.run.inputs import StepFactor
from simulator.reliability.failures.base import Cause
from simulator.units import Count, Number, Seconds


class SlowDown(NamedTuple):
    """What an episode does to the step."""

    factor: Number = 1.0
    of_host: bool = False
    """Whether replacing a host ends it."""
    degraded: tuple[str, float] | None = None
    """A unit and the share of bandwidth that it keeps, which the network prices."""


class SlowDowns:
    def __init__(self, environment: simpy.Environment, step_factor: StepFactor | None) -> None:
        self.episodes = 0
        """So far."""
        self.changed: list[Callable[[], None]] = []
        """Told when an episode begins or ends."""
        self._environment = environment
        self._step_factor = step_factor
        self._alike: Counter[SlowDown] = Counter()
        """Episodes under way, by what they do."""
        self._cured = 0
        """How often all slow hosts have been replaced."""
        self._factor: Number | None = 1.0
        """What they do together; None until it is worked out."""

    def begin(self, cause: Cause, lasts: Seconds, *, degrades: bool) -> None:
        """Begin an episode; without a network, degraded links slow the step by the cause's factor."""
        if degrades and self._step_factor is not None:
            slow_down = SlowDown(degraded=(cause.unit, cause.bandwidth))
        else:
            slow_down = SlowDown(cause.slow, of_host=cause.on_host)
        self.episodes += 1
        self._add(slow_down, 1)
        self._environment.process(self._episode(slow_down, lasts, self._cured))

    def _episode(self, slow_down: SlowDown, lasts: Seconds, cured: Count) -> Generator[simpy.Event, Any, None]:
        yield self._environment.timeout(lasts)
        if not slow_down.of_host or cured == self._cured:
            self._add(slow_down, -1)

    def _add(self, slow_down: SlowDown, episodes: int) -> None:
        before = self._alike[slow_down]
        self._alike[slow_down] = before + episodes
        if not before or not self._alike[slow_down]:
            self._change()

    def _change(self) -> None:
        self._alike = +self._alike
        self._factor = None
        for tell in self.changed:
            tell()

    @property
    def slow_hosts(self) -> Count:
        """How many hosts are slow now."""
        return sum(count for slow_down, count in self._alike.items() if slow_down.of_host)

    def cure(self) -> None:
        """End what makes hosts slow: they have been replaced."""
        self._cured += 1
        for slow_down in [one for one in self._alike if one.of_host]:
            del self._alike[slow_down]
        self._change()

    def factor(self) -> Number:
        """Return the wall clock that a second of useful work takes now."""
        if self._factor is None:
            self._factor = self._together(self._alike)
        return self._factor

    def factor_without_slow_hosts(self) -> Number:
        """Return what `factor` would be if no host were slow."""
        return self._together([one for one in self._alike if not one.of_host])

    def _together(self, slow_downs: Counter[SlowDown] | list[SlowDown]) -> Number:
        slowest = max((one.factor for one in slow_downs), default=1.0)
        degraded = tuple(sorted(one.degraded for one in slow_downs if one.degraded))
        return max(slowest, self._step_factor(degraded) if degraded and self._step_factor else 1.0)
