"""Interruptions that a log shows: steps that were done again, first steps that start anew, and gaps of its clock.

A pause of the clock is a restart where it is longer than any save or evaluation, and comes at no fixed distance.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from statistics import median
from typing import NamedTuple

from simulator.measured.disturbances import Disturbances
from simulator.measured.series import Series, Step
from simulator.units import Count, Number, Seconds

LEAST: Seconds = 120.0
"""Shorter pauses of a clock are no restarts: published ones take 200 s (16K GPUs; arXiv 2602.00277, figure 2) or more,
saves that stall the job and evaluations mostly less."""
MORE: Number = 3.0
"""Times the usual time between lines by which a pause must be longer: lines that are far apart hold several saves."""
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
    usual = _usual(found)
    for place, (before, one) in enumerate(pairwise(found.steps), 1):
        back = place in again
        first = back or one.number in starts
        away = _away(before, one, back, step if first else None)
        redone = max(before.number - one.number + one.steps, 0) if back else 0
        if first:
            told.append(Interruption(one.number, away, redone))
        elif away is not None and away > max(LEAST, step / 2) + MORE * usual:
            pauses.append(Interruption(one.number, away - usual, 0))
    return tuple(sorted((*told, *([] if _regular(pauses) else pauses)), key=lambda one: one.step))


def _usual(found: Series) -> Seconds:
    """Return the time between two lines that is in no step, such as that of saves."""
    gaps = [_away(before, one, False, None) for before, one in pairwise(found.steps) if one.number > before.number]
    known = [gap for gap in gaps if gap is not None]
    return median(known) if known else 0.0


def _away(before: Step, one: Step, back: bool, first: Seconds | None) -> Seconds | None:
    """Return the time between two lines that is in no step; of a first step, what is over its usual time `first`."""
    if before.clock is None or one.clock is None or one.clock <= before.clock:
        return None
    count = one.steps if back else max(one.number - before.number, 1)
    each = one.seconds if first is None or count > 1 else first
    return max(one.clock - before.clock - count * each, 0.0)


def _regular(pauses: Sequence[Interruption]) -> bool:
    """Return whether pauses come at one distance."""
    apart = [two.step - one.step for one, two in pairwise(pauses)]
    return len(pauses) >= FEW and max(apart) <= (1 + EVEN) * min(apart)
