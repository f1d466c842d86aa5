"""How many microbatches each chunk of a stage holds at the moments when memory may peak.

The order of a schedule is played task by task: a forward takes what its chunk keeps, a backward gives it back, and
a split backward gives it back with its second half. What a stage holds depends on the order alone, not on times,
so this is the same list that the clock plays.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from simulator.workload.schedules import Schedule


class Holding(NamedTuple):
    """A moment: microbatches held by each chunk, and the chunk at work, forward or backward."""

    counts: tuple[int, ...]
    delayed: tuple[int, ...]
    """How many of those have only their weight gradients left to do."""
    chunk: int
    forward: bool


@lru_cache(maxsize=65536)
def holdings(schedule: Schedule, stage: int, stages: int, microbatches: int) -> tuple[Holding, ...]:
    """Return the moments of `stage` that no other one of the same kind exceeds, in the order of the step.

    Forwards are counted with their own microbatch, backwards before they give back.
    """
    chunks = schedule.chunks_per_stage
    counts, delayed = [0] * chunks, [0] * chunks
    seen: dict[tuple[int, bool], dict[tuple[int, ...], None]] = {}
    for task in schedule.tasks(stage, stages, schedule.representative(stages, microbatches)):
        if task.phase == "F":
            counts[task.chunk] += 1
        if task.phase != "W":
            seen.setdefault((task.chunk, task.phase == "F"), {})[*counts, *delayed] = None
        if task.phase in "BW":
            counts[task.chunk] -= 1
        delayed[task.chunk] += {"I": 1, "W": -1}.get(task.phase, 0)
    return tuple(
        Holding(largest[:chunks], largest[chunks:], chunk, forward)
        for (chunk, forward), moments in seen.items()
        for largest in _largest(moments)
    )


def _largest(moments: dict[tuple[int, ...], None]) -> list[tuple[int, ...]]:
    """Return the vectors that no other one is at least as large as everywhere."""
    front: list[tuple[int, ...]] = []
    for moment in sorted(moments, key=sum, reverse=True):
        if not any(all(a >= b for a, b in zip(other, moment, strict=True)) for other in front):
            front.append(moment)
    return front
