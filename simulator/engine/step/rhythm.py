"""Long steps: a schedule repeats itself once it has filled, so that a long step is a short one and equal periods."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from simulator.engine.step.local_clock import Timing, alone
from simulator.engine.step.work import BESIDE, StepWork
from simulator.units import Seconds

FILLED = 3
"""Periods after which the stages are usually in their rhythm."""
SAME = 1e-7
"""Periods that differ by less are equal: transfers that share links end a few nanoseconds apart in either."""


def time(work: StepWork, play: Callable[[StepWork], Timing]) -> Timing:
    """Return the time of a step by the clock `play`: once two periods in a row take the same time, the rest do too.

    As long as they take less than the busiest stage needs for one, that stage still works off its start.
    """
    period = work.schedule.period(work.stages, work.microbatches)
    groups = work.microbatches // period - FILLED - 1 if period else 0
    short = work.microbatches - groups * (period or 0)
    if period is None or 3 * short >= work.microbatches:
        return play(work)
    first, second, third = (play(replace(work, microbatches=short + more * period)) for more in (-1, 0, 1))
    rise = third.seconds - second.seconds
    uneven = second.stage != third.stage or abs(second.seconds - first.seconds - rise) > SAME * rise
    if uneven or rise < (1 - SAME) * period * _busiest(work):
        return play(work)
    parts = {name: part + groups * (third.parts.get(name, 0.0) - part) for name, part in second.parts.items()}
    return Timing(second.seconds + groups * rise, third.stage, parts)


def _busiest(work: StepWork) -> Seconds:
    """Return the work of one microbatch on the stage that has most of it."""
    busy = [0.0] * work.stages
    kinds = "FIW" if work.schedule.splits else "FB"
    for (stage, _), chunk in zip(work.schedule.route(work.stages), work.chunks, strict=True):
        phases = [chunk.phases.get(kind + BESIDE) or chunk.phases[kind] for kind in kinds]
        busy[stage] += sum(alone(phase).seconds for phase in phases)
    return max(busy)
