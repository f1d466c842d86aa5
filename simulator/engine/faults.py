"""What slows a run down without stopping it: slow hosts, degraded links, replicas that are missing.

A step waits for the slowest host, so of several slow hosts the worst counts; degraded links are priced
together by the network; what is missing from the replicas multiplies.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable

from simulator.reliability.failures.base import Cause
from simulator.units import Seconds

StepFactor = Callable[[tuple[tuple[str, float], ...]], float]
"""Degraded units as sorted (unit, share of bandwidth left) -> factor on the step."""


class Faults:
    def __init__(self, step_factor: StepFactor | None, steady: float = 1.0) -> None:
        self._step_factor = step_factor
        self._steady = steady
        self.active: list[tuple[Seconds, int, Cause]] = []
        self.episodes = 0

    def begin(self, cause: Cause, until: Seconds) -> None:
        self.episodes += 1
        heapq.heappush(self.active, (until, self.episodes, cause))

    def end_first(self) -> None:
        """End the episode that ends first."""
        heapq.heappop(self.active)

    @property
    def next_end(self) -> Seconds:
        return self.active[0][0] if self.active else math.inf

    def factor(self, now: Seconds) -> float:
        """Return the wall clock that a second of useful work takes from `now` on."""
        while self.active and self.active[0][0] <= now:
            heapq.heappop(self.active)
        if not self.active:
            return self._steady
        slow = max((cause.slow for _, _, cause in self.active if self._slows(cause)), default=1.0)
        degraded = sorted((cause.unit, cause.bandwidth) for _, _, cause in self.active if not self._slows(cause))
        network = self._step_factor(tuple(degraded)) if degraded and self._step_factor else 1.0
        return self._steady * max(slow, network)

    def _slows(self, cause: Cause) -> bool:
        return cause.effect == "slow" or self._step_factor is None
