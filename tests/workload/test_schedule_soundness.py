"""A schedule that drops, doubles or inverts a task is refused with the stage, the microbatch and the task."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.engine.step.order import orders
from simulator.errors import ScenarioError
from simulator.kinds import kinds
from simulator.scenario import Scenario, from_dict
from simulator.scenario.checks import check
from simulator.scenario.mistakes import Mistakes
from simulator.simulation import predict
from simulator.workload.schedules import Schedule, Task
from simulator.workload.schedules.gpipe import GPipe
from simulator.workload.schedules.one_f_one_b import OneForwardOneBackward
from simulator.workload.schedules.soundness import NAMES, mistake
from simulator.workload.schedules.zb_h1 import ZeroBubbleH1
from simulator.workload.schedules.zb_v import ZeroBubbleV

SHIPPED = [cls() for cls in kinds("simulator.workload.schedules", Schedule).values()]
MESHES = [(p, m) for p in (1, 2, 3, 4, 8) for m in (1, 2, 4, 5, 8, 16, 24)]
Lists = tuple[tuple[Task, ...], ...]


@dataclass(frozen=True, kw_only=True)
class Listed(OneForwardOneBackward):
    """The tasks of another schedule, written out and changed; it has no kind of its own, so that nobody finds it."""

    of: Schedule
    stages: Lists

    @property
    def splits(self) -> bool:  # type: ignore[override]
        return self.of.splits

    @property
    def chunks_per_stage(self) -> int:
        return self.of.chunks_per_stage

    @property
    def copies(self) -> int:
        return self.of.copies

    def route(self, stages):
        return self.of.route(stages)

    def path(self, microbatch, stages, microbatches):
        return self.of.path(microbatch, stages, microbatches)

    def tasks(self, stage, stages, microbatches):
        return self.stages[stage]


def listed(schedule: Schedule, stages: int, microbatches: int) -> Listed:
    return Listed(of=schedule, stages=tuple(schedule.tasks(stage, stages, microbatches) for stage in range(stages)))


@pytest.mark.parametrize("schedule", SHIPPED, ids=lambda schedule: schedule.kind)
@pytest.mark.parametrize("stages, microbatches", MESHES)
def test_every_shipped_schedule_is_sound(schedule, stages, microbatches):
    if schedule.check(stages, microbatches) is None:
        assert mistake(schedule, stages, microbatches) is None


@st.composite
def shaken(draw: st.DrawFn) -> tuple[Listed, int, int, int]:
    """Return a shipped schedule with something done to the tasks of one stage, and which stage that is."""
    schedule, (stages, microbatches) = draw(st.sampled_from(SHIPPED)), draw(st.sampled_from(MESHES))
    if schedule.check(stages, microbatches):
        schedule = OneForwardOneBackward()
    right = listed(schedule, stages, microbatches)
    stage = draw(st.integers(0, stages - 1))
    tasks = list(right.stages[stage])
    for _ in range(draw(st.integers(1, 3))):
        first, second = (draw(st.integers(0, len(tasks) - 1)) for _ in range(2))
        what = draw(st.sampled_from(["swap", "drop", "double", "move"]))
        if what == "swap":
            tasks[first], tasks[second] = tasks[second], tasks[first]
        elif what == "double":
            tasks.insert(second, tasks[first])
        elif len(tasks) > 1:
            taken = tasks.pop(first)
            if what == "move":
                tasks.insert(second, taken)
    changed = (*right.stages[:stage], tuple(tasks), *right.stages[stage + 1 :])
    return replace(right, stages=changed), stages, microbatches, stage


def runs(schedule: Listed, stages: int, microbatches: int) -> bool:
    """Return whether a step ends: any stage does its next task as soon as what the task needs is there."""
    paths = [schedule.path(microbatch, stages, microbatches) for microbatch in range(microbatches)]
    left = [list(tasks) for tasks in schedule.stages]
    done: set[tuple[str, int, int]] = set()
    progress = True
    while progress:
        progress = False
        for stage, tasks in enumerate(left):
            if not tasks:
                continue
            phase, microbatch, chunk = tasks[0]
            part, last = paths[microbatch].index((stage, chunk)), len(paths[microbatch]) - 1
            needs = {("F", microbatch, part - 1)} if phase == "F" and part else set()
            if phase in "BI":
                needs = {("F", microbatch, part)} | ({("B", microbatch, part + 1)} if part < last else set())
            if phase == "W":
                needs = {("I", microbatch, part)}
            if needs <= done:
                done |= {(one, microbatch, part) for one in {"B": "B", "I": "BI"}.get(phase, phase)}
                tasks.pop(0)
                progress = True
    return not any(left)


@settings(max_examples=300, deadline=None)
@given(shaken())
def test_a_schedule_is_refused_exactly_where_it_differs_or_never_ends(case):
    schedule, stages, microbatches, stage = case
    same = Counter(schedule.stages[stage]) == Counter(schedule.of.tasks(stage, stages, microbatches))
    why = mistake(schedule, stages, microbatches)
    assert (why is None) == (same and runs(schedule, stages, microbatches))
    if why is not None:
        assert f"stage {stage} " in why or "deadlock" in why
        assert "microbatch " in why
        assert any(name in why for name in NAMES.values())


F0, F1, B0, B1 = (Task(phase, microbatch) for phase in "FB" for microbatch in (0, 1))  # type: ignore[arg-type]
I0, W0, I1, W1 = (Task(phase, microbatch) for microbatch in (0, 1) for phase in "IW")  # type: ignore[arg-type]
SECOND = (F0, B0, F1, B1)


@pytest.mark.parametrize(
    "first, says",
    [
        ((F0, F1, B0), "stage 0 never runs the backward of microbatch 1"),
        ((F0, B0, B1), "stage 0 never runs the forward of microbatch 1"),
        ((F0, F1, B0, F1, B1), "stage 0 runs the forward of microbatch 1 twice"),
        ((F0, F1, B0, B1, B1), "stage 0 runs the backward of microbatch 1 twice"),
        ((B0, F0, F1, B1), "stage 0 runs the backward of microbatch 0 before the forward of microbatch 0"),
        ((F0, F1, B0, B1, Task("F", 2)), "stage 0 runs the forward of microbatch 2, which this step does not have"),
        ((F0, F1, B0, B1, Task("F", 0, 1)), "the forward of microbatch 0 on chunk 1, which this step does not have"),
        ((F0, F1, B0, B1, Task("X", 0)), "stage 0 runs phase 'X' of microbatch 0"),  # type: ignore[arg-type]
        ((F0, F1, B0, B1, ("F", 0, 0)), "stage 0 runs ('F', 0, 0), which is no Task"),
        ((F0, F1, I0, W0, B1), "stage 0 runs the input gradient of microbatch 0, but its class does not say"),
    ],
)
def test_each_mistake_of_one_stage_is_named(first, says):
    schedule = Listed(of=OneForwardOneBackward(), stages=(first, SECOND))
    assert says in str(mistake(schedule, 2, 2))


@pytest.mark.parametrize(
    "first, says",
    [
        ((F0, F1, I0, W0, I1), "stage 0 never runs the weight gradient of microbatch 1"),
        ((F0, F1, I0, W0, W1), "stage 0 never runs the input gradient of microbatch 1"),
        ((F0, F1, I0, W0, W1, I1), "the weight gradient of microbatch 1 before the input gradient of microbatch 1"),
        ((F0, F1, I0, B0, W0, I1, W1), "runs the backward of microbatch 0 although it runs both halves of it"),
        ((F0, F1, B0, W0, I1, W1), "runs the weight gradient of microbatch 0 although it runs the whole backward"),
    ],
)
def test_halves_of_a_backward_are_one_backward(first, says):
    schedule = Listed(of=ZeroBubbleH1(), stages=(first, SECOND))
    assert says in str(mistake(schedule, 2, 2))


def test_a_deadlock_says_who_waits_for_whom():
    schedule = Listed(of=GPipe(), stages=((F0, B0, F1, B1), (F0, F1, B0, B1)))
    assert mistake(schedule, 2, 2) == (
        "1f1b: deadlock: stage 0 waits with the backward of microbatch 0 for the backward of microbatch 0 on stage 1, "
        "and stage 1 waits with the forward of microbatch 1 for the forward of microbatch 1 on stage 0"
    )


def test_a_stage_may_wait_for_itself():
    right = listed(ZeroBubbleV(), 2, 1)
    last = list(right.stages[1])
    last.sort(key=lambda task: (task.phase, -task.chunk) if task.phase == "F" else ("Z", 0))
    why = mistake(replace(right, stages=(right.stages[0], tuple(last))), 2, 1)
    assert "stage 1 waits with the forward of microbatch 0 on chunk 1 for the forward of microbatch 0 on chunk 0" in why


@dataclass(frozen=True, kw_only=True)
class Forgetful(OneForwardOneBackward):
    """1F1B without the backward of one microbatch on the first stage."""

    forgets: int = 3

    def tasks(self, stage, stages, microbatches):
        whole = OneForwardOneBackward().tasks(stage, stages, microbatches)
        return tuple(task for task in whole if stage or task != Task("B", self.forgets))


@dataclass(frozen=True, kw_only=True)
class Lost(Forgetful):
    def route(self, stages):
        return tuple((stage + 1, 0) for stage in range(stages))


@dataclass(frozen=True, kw_only=True)
class Broken(Forgetful):
    def tasks(self, stage, stages, microbatches):
        return (Task("F", 0), Task("B", 0))[microbatches + 7]


def test_a_path_that_leaves_the_stages_is_refused():
    assert "the route passes stage and chunk (2, 0); there are 2 stages with 1 chunks each" in mistake(Lost(), 2, 4)


def test_what_a_schedule_raises_is_said():
    assert mistake(Broken(), 2, 4) == "1f1b: its tasks cannot be listed, IndexError: tuple index out of range"


def scenario(schedule: Schedule) -> Scenario:
    read = from_dict(
        {
            "version": 1,
            "model": {"layers": 4, "hidden": 1024, "heads": 8, "vocabulary": 1024},
            "cluster": {"host": "dgx-h100", "hosts": 1},
            "parallelism": {"pipeline": 4},
            "training": {"steps": 10, "sequence_length": 2048, "global_batch": 16, "microbatch": 1},
        }
    )
    assert read.parallelism is not None
    return replace(read, parallelism=replace(read.parallelism, schedule=schedule))


def test_it_is_refused_where_sections_are_checked_and_before_it_is_timed():
    says, case = "stage 0 never runs the backward of microbatch 3", scenario(Forgetful())
    mistakes = Mistakes()
    names = ("cluster", "training", "parallelism", "model", "stack")
    check({name: getattr(case, name) for name in names}, mistakes)
    with pytest.raises(ScenarioError, match=says):
        mistakes.stop()
    with pytest.raises(ScenarioError, match=says):
        predict(case)
    with pytest.raises(ScenarioError, match=says):
        orders(Forgetful(), 4, 8)
