"""What slows a run down without stopping it: slow hosts, degraded links, replicas that are missing.

A step waits for the slowest host, so of several slow hosts the worst counts, and so it does of several units of one
kind that are degraded alike; those of different kinds are priced together by the network. What is missing from the
replicas multiplies.
"""

from __future__ import annotations

import heapq
import math
from collections import Counter
from collections.abc import Callable

from simulator.reliability.failures.base import Cause
from simulator.units import Count, Seconds

StepFactor = Callable[[tuple[tuple[str, float], ...]], float]
"""Degraded units as sorted (unit, share of bandwidth left) -> factor on the step."""
_SLOW, _SLOW_HOST = "slow", "slow host"


class Faults:
    def __init__(self, step_factor: StepFactor | None, steady: float = 1.0) -> None:
        self._step_factor = step_factor
        self._steady = steady
        self.active: list[tuple[Seconds, int, tuple[str, float]]] = []
        """Episodes by their end: number, and what it does, a slow host's factor or a unit's share of bandwidth."""
        self.episodes = 0
        self._alike: Counter[tuple[str, float]] = Counter()
        """Episodes under way that do the same."""
        self._factor: float | None = steady
        """What they do together; None until it is worked out."""

    def begin(self, cause: Cause, until: Seconds) -> None:
        self.episodes += 1
        slows = cause.effect == "slow" or self._step_factor is None
        does = (_SLOW_HOST if cause.on_host else _SLOW, cause.slow) if slows else (cause.unit, cause.bandwidth)
        heapq.heappush(self.active, (until, self.episodes, does))
        self._alike[does] += 1
        if self._alike[does] == 1:
            self._factor = None

    def end_first(self) -> None:
        """End the episode that ends first."""
        _, _, does = heapq.heappop(self.active)
        self._alike[does] -= 1
        if not self._alike[does]:
            del self._alike[does]
            self._factor = None

    @property
    def slow_hosts(self) -> Count:
        """Return how many hosts are slow now."""
        return sum(does[0] == _SLOW_HOST for _, _, does in self.active)

    def cure(self) -> None:
        """End what makes hosts slow."""
        self.active = [episode for episode in self.active if episode[2][0] != _SLOW_HOST]
        heapq.heapify(self.active)
        self._alike = Counter(does for _, _, does in self.active)
        self._factor = None

    def without_slow_hosts(self) -> float:
        """Return what `factor` would be if no host were slow."""
        return self._steady * self._together((_SLOW,))

    @property
    def next_end(self) -> Seconds:
        return self.active[0][0] if self.active else math.inf

    def factor(self, now: Seconds) -> float:
        """Return the wall clock that a second of useful work takes from `now` on."""
        while self.active and self.active[0][0] <= now:
            self.end_first()
        if self._factor is None:
            self._factor = self._steady * self._together((_SLOW, _SLOW_HOST))
        return self._factor

    def _together(self, slowing: tuple[str, ...]) -> float:
        slow = max((factor for name, factor in self._alike if name in slowing), default=1.0)
        degraded = tuple(sorted(does for does in self._alike if does[0] not in (_SLOW, _SLOW_HOST)))
        return max(slow, self._step_factor(degraded) if degraded and self._step_factor else 1.0)
