"""When a run is given up: failures come faster than it recovers."""

from __future__ import annotations

from collections.abc import Callable

import simpy

from simulator.errors import ScenarioError
from simulator.units import Seconds

_CHECK_EVERY = 1024
MOST_WAITING = 1024
"""Failures during one save or stop; where there are more, the job is nothing but saves and stops."""
_LEAST_PROGRESS = 0.05
"""A run that secures less useful work than this per second, over so many interruptions, is given up."""


class NoProgressError(Exception):
    """Failures come faster than the run recovers."""


class Patience:
    def __init__(self, environment: simpy.Environment, secured: Callable[[], Seconds], too_many: str | None) -> None:
        self._interruptions = 0
        self._environment = environment
        self._secured = secured
        self._too_many = too_many
        self._checked = (0.0, 0.0)

    def count(self) -> None:
        """Count an interruption. Raises NoProgressError, or ScenarioError where there will be too many to simulate."""
        self._interruptions += 1
        if self._interruptions % _CHECK_EVERY:
            return
        (before, secured_before), now, secured = self._checked, self._environment.now, self._secured()
        if secured - secured_before < _LEAST_PROGRESS * (now - before):
            raise NoProgressError
        if self._too_many is not None:
            raise ScenarioError(self._too_many)
        self._checked = now, secured
