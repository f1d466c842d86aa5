"""Which tasks of a step can run at the same time: its order cut into waves, each of which needs only earlier ones."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from simulator.engine.order import orders, reductions, stage_of
from simulator.workload.schedules import Schedule

Array = np.ndarray[Any, Any]
PHASES = "FBIW"


@dataclass(frozen=True, eq=False)
class Waves:
    """The tasks of a step, sorted so that each wave, a range between two `bounds`, needs only earlier ones."""

    bounds: tuple[int, ...]
    code: Array
    """Which duration each task has: phase x positions + position."""
    before: Array
    """The task before it on its stage; two past the last where there is none."""
    needs: Array
    """The task whose output it needs; one past the last where there is none."""
    hops: Array
    """0 where that output comes from the same stage."""
    sends: Array
    """1 where its own output goes to another stage."""
    number: Array
    """Where each task of the schedule's order, stage after stage, stands here."""
    starts: tuple[int, ...]
    """Where the tasks of each stage begin in that order."""


@lru_cache(maxsize=256)
def waves(schedule: Schedule, stages: int, microbatches: int) -> Waves:
    """Return the waves of a schedule: each stage does its next task as soon as its input is there."""
    tasks = [task for stage in orders(schedule, stages, microbatches) for task in stage]
    counts = [len(stage) for stage in orders(schedule, stages, microbatches)]
    where = np.array(stage_of(schedule, stages, microbatches))
    length, total = where.shape[1], len(tasks)
    phase = np.array([PHASES.index(task[0]) for task in tasks])
    microbatch = np.array([task[1] for task in tasks])
    position = np.array([task[2] for task in tasks])
    stage = np.repeat(np.arange(stages), counts)
    forward, gives = phase == 0, phase != PHASES.index("W")

    outputs = np.full(2 * microbatches * length, total)
    own = (forward * microbatches + microbatch) * length + position
    outputs[own[gives]] = np.flatnonzero(gives)
    source = np.where(forward, position - 1, position + 1)
    target = np.where(forward, position + 1, position - 1)
    waits = gives & (source >= 0) & (source < length)
    hands = gives & (target >= 0) & (target < length)
    needs = np.full(total, total)
    needs[waits] = outputs[own[waits] + np.where(forward, -1, 1)[waits]]
    hops, sends = np.ones(total), np.zeros(total)
    hops[waits] = where[microbatch[waits], source[waits]] != stage[waits]
    sends[hands] = where[microbatch[hands], target[hands]] != stage[hands]

    starts = np.concatenate(([0], np.cumsum(counts)))
    wave = _waves(needs, starts[:-1], np.array(counts))
    order = np.argsort(wave, kind="stable")
    number = np.arange(total + 2)
    number[order] = np.arange(total)
    before = np.arange(-1, total - 1)
    before[starts[:-1]] = total + 1
    bounds = np.searchsorted(wave[order], np.arange(wave.max() + 2))
    return Waves(
        bounds=tuple(map(int, bounds)),
        code=(phase * length + position)[order],
        before=number[before][order],
        needs=number[needs][order],
        hops=hops[order],
        sends=sends[order],
        number=number[:total],
        starts=tuple(map(int, starts)),
    )


def _waves(needs: Array, starts: Array, counts: Array) -> Array:
    """Return the wave of each task when all tasks take equally long."""
    total = len(needs)
    done = np.zeros(total + 1, dtype=bool)
    done[total] = True
    needs = np.append(needs, total)
    wave, current, ends, number = np.empty(total, dtype=np.intp), starts.copy(), starts + counts, 0
    while True:
        open_ = current < ends
        ready = current[open_ & done[needs[np.minimum(current, total)]]]
        if not len(ready):
            break
        wave[ready] = number
        current[open_ & done[needs[np.minimum(current, total)]]] += 1
        done[ready] = True
        number += 1
    if (current < ends).any():
        raise AssertionError("the schedule waits forever")
    return wave


@lru_cache(maxsize=512)
def marks(
    schedule: Schedule, stages: int, microbatches: int, overlap_reduce: bool, each_round: bool
) -> tuple[dict[tuple[int, int], int], tuple[tuple[int, int, int], ...]]:
    """Return the first forward of each (stage, position), and every (stage, position, task) that is reduced after.

    Tasks are counted in the order of the schedule, stage after stage.
    """
    first: dict[tuple[int, int], int] = {}
    marked = reductions(schedule, stages, microbatches, overlap_reduce, each_round)
    reducing, number = [], 0
    for stage, tasks in enumerate(orders(schedule, stages, microbatches)):
        for number, (phase, microbatch, position) in enumerate(tasks, number):  # noqa: B020
            if phase == "F":
                first.setdefault((stage, position), number)
            elif phase in "BW" and (microbatch, position) in marked[stage]:
                reducing.append((stage, position, number))
        number += 1
    return first, tuple(reducing)
