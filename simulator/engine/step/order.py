"""In which order the stages of a pipeline work, and after which tasks gradients are reduced."""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise

from simulator.errors import ScenarioError
from simulator.workload.schedules import Schedule
from simulator.workload.schedules.soundness import mistake, ships


@lru_cache(maxsize=512)
def orders(schedule: Schedule, stages: int, microbatches: int) -> tuple[tuple[tuple[str, int, int], ...], ...]:
    """Return what each stage does, in order, as (phase, microbatch, position in the model).

    Raises ScenarioError where these tasks cannot be run.
    """
    if not ships(schedule) and (why := mistake(schedule, stages, microbatches)):
        raise ScenarioError(f"parallelism.schedule: {why}")
    paths: dict[int, dict[tuple[int, int], int]] = {}
    result = []
    for stage in range(stages):
        tasks = []
        for phase, microbatch, chunk in schedule.tasks(stage, stages, microbatches):
            if microbatch not in paths:
                path = schedule.path(microbatch, stages, microbatches)
                paths[microbatch] = {place: index for index, place in enumerate(path)}
            tasks.append((phase, microbatch, paths[microbatch][stage, chunk]))
        result.append(tuple(tasks))
    return tuple(result)


@lru_cache(maxsize=512)
def pairs(schedule: Schedule, stages: int, microbatches: int) -> tuple[frozenset[int], ...]:
    """Return, for each stage, the places of tasks that have an opposite pass of another microbatch next to them.

    A forward and a backward, whole or of the inputs, that a stage does one after the other; each has one partner at
    most. Passes of one microbatch depend on each other and are none.
    """
    found = []
    for tasks in orders(schedule, stages, microbatches):
        places: set[int] = set()
        for place, (one, other) in enumerate(pairwise(tasks)):
            if place not in places and {one[0], other[0]} in ({"F", "B"}, {"F", "I"}) and one[1] != other[1]:
                places |= {place, place + 1}
        found.append(frozenset(places))
    return tuple(found)


@lru_cache(maxsize=512)
def stage_of(schedule: Schedule, stages: int, microbatches: int) -> tuple[tuple[int, ...], ...]:
    """Return, for each microbatch, the stage at each position of the model."""
    return tuple(
        tuple(stage for stage, _ in schedule.path(microbatch, stages, microbatches))
        for microbatch in range(microbatches)
    )


@lru_cache(maxsize=512)
def positions(schedule: Schedule, stages: int, microbatches: int) -> tuple[tuple[int, ...], ...]:
    """Return, for each stage, the positions of the model that it holds, in order."""
    return tuple(
        tuple(sorted({position for _, _, position in tasks})) for tasks in orders(schedule, stages, microbatches)
    )


@lru_cache(maxsize=512)
def reductions(
    schedule: Schedule, stages: int, microbatches: int, overlap_reduce: bool, each_round: bool
) -> tuple[frozenset[tuple[int, int]], ...]:
    """Return, for each stage, the (microbatch, position) after whose backward a chunk's gradients are reduced.

    That is once, after the last microbatch, or after each round of microbatches where gradients are kept sharded.
    Without overlap what is reduced once waits until the whole backward of the stage is done (`finish`).
    """
    if not (overlap_reduce or each_round):
        return (frozenset(),) * stages
    size = schedule.round_size(stages, microbatches) if each_round else microbatches
    found = []
    for tasks in orders(schedule, stages, microbatches):
        backwards: dict[int, list[int]] = {}
        for phase, microbatch, position in tasks:
            if phase in "BW":
                backwards.setdefault(position, []).append(microbatch)
        found.append(
            frozenset(
                (microbatch, position)
                for position, order in backwards.items()
                for index, microbatch in enumerate(order)
                if (index + 1) % size == 0 or index + 1 == len(order)
            )
        )
    return tuple(found)
