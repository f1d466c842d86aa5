"""What the job may be doing, and the clocks that run meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import simpy

from simulator.engine.run.clock import Clock


@dataclass(frozen=True, eq=False)
class State:
    """What the job does at the moment."""

    name: str


TRAINING = State("training")
"""Failures and what asks for the job interrupt it."""
BUSY = State("busy")
"""Up without training: an evaluation, a stalled collective. Failures interrupt it."""
SAVING = State("saving")
"""A save outside the rhythm, which failures strike only when it is over."""
STOPPED = State("stopped")
"""A planned stop, likewise."""
DOWN = State("down")
"""A failure is noticed, understood, hosts are waited for. Further failures add to it."""
RESTARTING = State("restarting")
"""Processes come up; a failure undoes that."""
STRUCK = State("struck")
"""Something has happened that it has not dealt with yet, or it has not begun; no time passes."""
STATES = (TRAINING, BUSY, SAVING, STOPPED, DOWN, RESTARTING, STRUCK)
UP = frozenset({TRAINING, BUSY, SAVING})


class Clocks:
    """The clocks of a run: `up` while the job is up, and those on which units and the job itself fail.

    On exposure ``uptime`` all are one. On ``wall`` units fail at any time, and the job while its processes live.
    """

    def __init__(self, environment: simpy.Environment, *, wall: bool) -> None:
        self.wall = wall
        self.up = Clock(environment)
        self.units = Clock(environment) if wall else self.up
        self.job = Clock(environment) if wall else self.up
        self._changes: dict[tuple[State, State], list[Callable[[], None]]] = {
            (before, after): [] for before in STATES for after in STATES
        }
        """What starts and stops from one state to another."""
        self.add(self.up, UP)
        if wall:
            self.add(self.job, UP | {RESTARTING})
            self.units.start()

    def add(self, clock: Clock, states: frozenset[State]) -> None:
        """Let `clock` run while the job is in one of `states`."""
        for before in STATES:
            for after in STATES:
                if (before in states) != (after in states):
                    self._changes[before, after].append(clock.start if after in states else clock.stop)

    def change(self, before: State, after: State) -> None:
        for start_or_stop in self._changes[before, after]:
            start_or_stop()
