"""Simulated runs as what a step stretches and what it does not, and how likely they take longer than a limit.

A step that takes f times its prediction stretches a run of `growing` and `fixed` seconds to f growing + fixed. f is one
number for the whole run, and is integrated over each run, not drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import NamedTuple

import numpy as np

from simulator.outcome.step_error import StepError, longer
from simulator.units import Seconds, Share


class Stretch(NamedTuple):
    """The wall clock of a simulated run, by what the time of a step does to it."""

    growing: Seconds
    """In proportion to the step."""
    fixed: Seconds = 0.0
    """Whatever the step takes."""


class Stretches:
    """Many simulated runs at once."""

    def __init__(self, runs: Sequence[Stretch]) -> None:
        self.growing = np.array([run.growing for run in runs])
        self.fixed = np.array([run.fixed for run in runs])

    @property
    def whole(self) -> np.ndarray:
        """The wall clock of each as predicted."""
        whole: np.ndarray = self.growing + self.fixed
        return whole

    def later(self, limit: Seconds, error: StepError) -> Share:
        """Return the share of runs that take longer than `limit`, each over all that its step may take.

        >>> from simulator.outcome.step_error import SURE
        >>> Stretches([Stretch(8.0, 1.0), Stretch(9.0, 2.0)]).later(10.0, SURE)
        0.5
        """
        if limit == inf:
            return 0.0
        return float(longer(error, limit - self.fixed, self.growing).mean())
