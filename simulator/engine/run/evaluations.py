"""When the run evaluates: after every so much useful work."""

from __future__ import annotations

import math

from simulator.units import Seconds

MOST = 10_000
"""Evaluations of one run that are simulated one by one; more are bundled."""


class Evaluations:
    def __init__(self, every: Seconds, time: Seconds, work: Seconds) -> None:
        bundle = max(math.ceil(work / every / MOST), 1)
        self._every = every * bundle
        self.time = time * bundle
        """How long one takes."""
        self.next_at = self._every
        """Work at which the next one is due."""

    def begin(self) -> None:
        """Begin one, and look for the one after it."""
        self.next_at += self._every

    def go_back(self, work: Seconds) -> None:
        """Do those after `work` again."""
        if math.isfinite(self._every):
            self.next_at = (math.floor(work / self._every + 1e-9) + 1) * self._every
