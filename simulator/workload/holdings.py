"""How many microbatches each chunk of a stage holds at the moments when memory may peak.

The order of a schedule is played task by task: a forward takes what its chunk keeps, a backward gives it back, and
a split backward gives it back with its second half. What a stage holds depends on the order alone, not on times,
so this is the same list that the clock plays.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from operator import ge
from typing import NamedTuple

from simulator.workload.schedules import Schedule, Task


class Holding(NamedTuple):
    """A moment: microbatches held by each chunk, and the chunk at work, forward or backward."""

    counts: tuple[int, ...]
    delayed: tuple[int, ...]
    """How many of those have only their weight gradients left to do."""
    chunk: int
    forward: bool


def played(tasks: Iterable[Task], chunks: int) -> Iterator[tuple[Task, Holding]]:
    """Yield each task with what its stage holds meanwhile, forwards with their own microbatch, backwards too."""
    counts, delayed = [0] * chunks, [0] * chunks
    for task in tasks:
        if task.phase == "F":
            counts[task.chunk] += 1
        yield task, Holding(tuple(counts), tuple(delayed), task.chunk, task.phase == "F")
        if task.phase in "BW":
            counts[task.chunk] -= 1
        delayed[task.chunk] += {"I": 1, "W": -1}.get(task.phase, 0)


def holdings(schedule: Schedule, stage: int, stages: int, microbatches: int) -> tuple[Holding, ...]:
    """Return the moments of `stage` that no other one of the same kind exceeds.

    Weight gradients alone are left out: the input gradient before held as much, and worked more.
    """
    return _holdings(schedule, stage, stages, schedule.representative(stages, microbatches))


@lru_cache(maxsize=65536)
def _holdings(schedule: Schedule, stage: int, stages: int, microbatches: int) -> tuple[Holding, ...]:
    tasks = schedule.tasks(stage, stages, microbatches)
    seen: dict[tuple[int, bool], dict[Holding, None]] = {}
    for task, moment in played(tasks, schedule.chunks_per_stage):
        if task.phase != "W":
            seen.setdefault((moment.chunk, moment.forward), {})[moment] = None
    return tuple(largest for moments in seen.values() for largest in _largest(moments))


def _largest(moments: Iterable[Holding]) -> list[Holding]:
    """Return the moments that no other one is at least as large as everywhere."""
    front: list[Holding] = []
    sizes: list[tuple[int, ...]] = []
    for moment in sorted(moments, key=lambda moment: sum(moment.counts + moment.delayed), reverse=True):
        mine = moment.counts + moment.delayed
        if not any(all(map(ge, other, mine)) for other in sizes):
            front.append(moment)
            sizes.append(mine)
    return front
