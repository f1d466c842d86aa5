"""Interruptions that a log shows: steps that were done again, first steps that start anew, and gaps of its clock.

A pause of the clock is a restart where it is longer than any save or evaluation, and comes at no fixed distance.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from simulator.measured.disturbances import Disturbances
from simulator.measured.series import Series
from simulator.units import Count, Seconds

LEAST: Seconds = 120.0
"""Shorter pauses of a clock are no restarts: published ones take 200 s (16K GPUs; arXiv 2602.00277, figure 2) or more,
saves that stall the job and evaluations mostly less."""
EVEN = 0.05
"""Pauses whose distances in steps differ by less are made by the program itself, such as saves."""
FEW = 3
"""Pauses at one distance that are enough to see it."""


class Interruption(NamedTuple):
    """One time that the run stopped and went on."""

    step: Count
    """The first step after it."""
    away: Seconds | None
    """Time without training; None where the log has no clock."""
    redone: Count
    """Steps done a second time."""


def interruptions(found: Series, disturbed: Disturbances, step: Seconds) -> tuple[Interruption, ...]:
    """Return where the run was interrupted, in the order of the log; a step takes `step`."""
    again = set(found.starts)
    starts = {number for number, _ in disturbed.restarts} - {found.steps[place].number for place in again}
    told: list[Interruption] = []
    pauses: list[Interruption] = []
    for place, (before, one) in enumerate(pairwise(found.steps), 1):
        back = place in again
        count = one.steps if back else max(one.number - before.number, 1)
        away = None
        if before.clock is not None and one.clock is not None and one.clock > before.clock:
            away = max(one.clock - before.clock - count * step, 0.0)
        redone = max(before.number - one.number + one.steps, 0) if back else 0
        if back or one.number in starts:
            told.append(Interruption(one.number, away, redone))
        elif away is not None and away > max(LEAST, step / 2):
            pauses.append(Interruption(one.number, away, 0))
    return tuple(sorted((*told, *([] if _regular(pauses) else pauses)), key=lambda one: one.step))


def _regular(pauses: Sequence[Interruption]) -> bool:
    """Return whether pauses come at one distance."""
    apart = [two.step - one.step for one, two in pairwise(pauses)]
    return len(pauses) >= FEW and max(apart) <= (1 + EVEN) * min(apart)
