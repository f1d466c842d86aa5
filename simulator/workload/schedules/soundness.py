"""Whether the tasks of a schedule can be run: all of them, each once, in an order that never deadlocks.

A schedule is code that anybody may write, so its task lists are checked before a step is timed. Sends are taken as
asynchronous and of unlimited depth, as the clocks take them: what is refused here deadlocks on any hardware.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from simulator.workload.schedules.base import Route, Schedule, Task

NAMES = {"F": "the forward", "B": "the backward", "I": "the input gradient", "W": "the weight gradient"}
NEW, FORWARD, HALF, DONE = "new", "forward", "half", "done"
"""How far a stage is with one microbatch on one chunk."""
NEXT = {(NEW, "F"): FORWARD, (FORWARD, "B"): DONE, (FORWARD, "I"): HALF, (HALF, "W"): DONE}
"""The only tasks that may come next, and what they lead to."""
EXPECTED = {NEW: "F", FORWARD: "B", HALF: "W"}

Tasks = tuple[Task, ...]
Place = tuple[int, int]
"""A microbatch and the chunk of a stage that it passes."""
Event = int
"""A forward or a backward of a microbatch at a position of the model, as one number."""


@lru_cache(maxsize=4096)
def mistake(schedule: Schedule, stages: int, microbatches: int) -> str | None:
    """Return why the tasks of a schedule cannot be run, naming stage, microbatch and task; None where they can."""
    try:
        route = schedule.route(stages)
        paths = [schedule.path(microbatch, stages, microbatches) for microbatch in range(microbatches)]
        tasks = [tuple(schedule.tasks(stage, stages, microbatches)) for stage in range(stages)]
    except Exception as error:
        return f"{schedule.kind}: its tasks cannot be listed, {type(error).__name__}: {error}"
    why = _wrong_paths(schedule, stages, route, paths)
    if why is None:
        every = zip(tasks, _places(paths, stages), strict=True)
        wrong = (_wrong_tasks(_Stage(stage, *each, schedule)) for stage, each in enumerate(every))
        why = next(filter(None, wrong), None) or _deadlock(tasks, paths, schedule)
    return None if why is None else f"{schedule.kind}: {why}"


def ships(schedule: Schedule) -> bool:
    """Return whether a schedule comes with the program, whose tests check its tasks for many shapes."""
    return type(schedule).__module__.startswith(f"{__package__}.")


def named(task: Any, schedule: Schedule) -> str:
    """Return what messages call a task."""
    phase, microbatch, chunk = task
    where = f" on chunk {chunk}" if schedule.chunks_per_stage > 1 or chunk else ""
    return f"{NAMES.get(phase, f'phase {phase!r}')} of microbatch {microbatch}{where}"


# Where the microbatches go.


def _wrong_paths(schedule: Schedule, stages: int, route: Route, paths: Sequence[Route]) -> str | None:
    """Return why a microbatch does not pass every part of the model once, or which chunk none passes."""
    chunks = schedule.chunks_per_stage
    known = {(stage, chunk) for stage in range(stages) for chunk in range(chunks)}
    parts = len(known) // schedule.copies
    right: Route | None = None
    for name, path in (("the route", route), *((f"microbatch {number}", path) for number, path in enumerate(paths))):
        if path == right:
            continue
        if stray := next((place for place in path if place not in known), None):
            return f"{name} passes stage and chunk {stray}; there are {stages} stages with {chunks} chunks each"
        if len(set(path)) != len(path) or len(path) != parts:
            return f"{name} passes {len(path)} chunks, {len(set(path))} of them different; the model has {parts} parts"
        right = path
    if idle := known - {*paths[0], *paths[-1]}:
        stage, chunk = min(idle)
        return f"neither microbatch 0 nor microbatch {len(paths) - 1} passes chunk {chunk} of stage {stage}"
    return None


def _places(paths: Sequence[Route], stages: int) -> list[list[Place]]:
    """Return the microbatches and chunks that each stage works on."""
    found: list[list[Place]] = [[] for _ in range(stages)]
    for microbatch, path in enumerate(paths):
        for stage, chunk in path:
            found[stage].append((microbatch, chunk))
    return found


# What one stage does.


class _Stage(NamedTuple):
    number: int
    tasks: Tasks
    places: Sequence[Place]
    """Microbatches and chunks that pass it."""
    schedule: Schedule

    def says(self, sentence: str, task: Any) -> str:
        return f"stage {self.number} {sentence.format(named(task, self.schedule))}"


def _wrong_tasks(stage: _Stage) -> str | None:
    """Return what a stage drops, does twice, does too early, or does although nobody asks for it."""
    state = dict.fromkeys(stage.places, NEW)
    for index, task in enumerate(stage.tasks):
        if not isinstance(task, Task):
            return f"stage {stage.number} runs {task!r}, which is no Task"
        place = task[1:]
        if place not in state or task.phase not in NAMES:
            return stage.says("runs {}, which this step does not have", task)
        after = NEXT.get((state[place], task.phase))
        if after is None:
            return _out_of_order(stage, index, state[place])
        if after == HALF and not stage.schedule.splits:
            return stage.says("runs {}, but its class does not say `splits = True`", task)
        state[place] = after
    left = next((place for place, far in state.items() if far != DONE), None)
    return None if left is None else stage.says("never runs {}", (EXPECTED[state[left]], *left))


def _out_of_order(stage: _Stage, index: int, far: str) -> str:
    """Return why the task at `index` may not come when its microbatch is so `far`."""
    task = stage.tasks[index]
    if task in stage.tasks[:index]:
        return stage.says("runs {} twice", task)
    if far == DONE or (far == HALF and task.phase == "B"):
        other = "both halves of it" if task.phase == "B" else "the whole backward"
        return stage.says(f"runs {{}} although it runs {other}", task)
    needed = Task("I" if far == FORWARD else "F", task.microbatch, task.chunk)
    if needed in stage.tasks[index:]:
        return stage.says(f"runs {{}} before {named(needed, stage.schedule)}", task)
    return stage.says("never runs {}", needed)


# What the stages wait for.


def _deadlock(tasks: Sequence[Tasks], paths: Sequence[Route], schedule: Schedule) -> str | None:
    """Return which stages wait for each other for ever; None where all come to their end."""
    positions = {path: {place: index for index, place in enumerate(path)} for path in set(paths)}
    parts, mine = len(paths[0]), [positions[path] for path in paths]
    done: set[Event] = set()
    waiting: dict[Event, int] = {}
    heads = [0] * len(tasks)
    ready = deque(range(len(tasks)))
    while ready:
        stage = ready.popleft()
        own = tasks[stage]
        for index in range(heads[stage], len(own)):
            phase, microbatch, chunk = own[index]
            if phase == "W":
                continue
            position = mine[microbatch][stage, chunk]
            forward = phase == "F"
            event = 2 * (microbatch * parts + position) + forward
            inner = position > 0 if forward else position + 1 < parts
            if inner and (needed := event + (-2 if forward else 2)) not in done:
                waiting[needed] = stage
                heads[stage] = index
                break
            done.add(event)
            if event in waiting:
                ready.append(waiting.pop(event))
    stuck = {
        stage: _Waiting(tasks[stage][heads[stage]], *_task(event, paths, tasks)) for event, stage in waiting.items()
    }
    return _circle(stuck, schedule) if stuck else None


class _Waiting(NamedTuple):
    task: Task
    other: int
    """The stage that it waits for."""
    needed: Task


def _task(event: Event, paths: Sequence[Route], tasks: Sequence[Tasks]) -> tuple[int, Task]:
    """Return which task of which stage an event is."""
    microbatch, position = divmod(event // 2, len(paths[0]))
    stage, chunk = paths[microbatch][position]
    phases = "F" if event % 2 else "BI"
    return stage, next(task for task in tasks[stage] if task.phase in phases and task[1:] == (microbatch, chunk))


def _circle(stuck: dict[int, _Waiting], schedule: Schedule) -> str:
    """Return what the stages of one circle wait for."""
    seen: list[int] = []
    stage = min(stuck)
    while stage not in seen:
        seen.append(stage)
        stage = stuck[stage].other
    return "deadlock: " + ", and ".join(
        f"stage {one} waits with {named(each.task, schedule)} for {named(each.needed, schedule)} on stage {each.other}"
        for one, each in ((one, stuck[one]) for one in seen[seen.index(stage) :])
    )
