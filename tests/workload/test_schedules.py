"""What every schedule promises: everything once, no deadlock, and the bubble and memory of its paper."""

from __future__ import annotations

from collections import Counter

import pytest

from simulator.kinds import kinds
from simulator.workload.schedules import Schedule
from simulator.workload.schedules.dualpipe import DualPipe
from simulator.workload.schedules.gpipe import GPipe
from simulator.workload.schedules.interleaved_1f1b import InterleavedOneForwardOneBackward
from simulator.workload.schedules.one_f_one_b import OneForwardOneBackward
from simulator.workload.schedules.zb_h1 import ZeroBubbleH1
from simulator.workload.schedules.zb_h2 import ZeroBubbleH2
from simulator.workload.schedules.zb_v import ZeroBubbleV

KINDS = kinds("simulator.workload.schedules", Schedule)
MESHES = [(p, m) for p in (1, 2, 3, 4, 6, 8) for m in (1, 2, 3, 4, 5, 7, 8, 9, 13, 16, 24, 31)]
UNITS = {"F": 1.0, "B": 2.0, "I": 1.0, "W": 1.0}

every_kind = pytest.mark.parametrize("schedule", [kind() for kind in KINDS.values()], ids=list(KINDS))
every_mesh = pytest.mark.parametrize("stages, microbatches", MESHES)


def clock(
    schedule: Schedule, stages: int, microbatches: int, units: dict[str, float] = UNITS
) -> dict[int, list[tuple[float, float]]]:
    """Return the (start, end) of every task, stage by stage: the longest path, sends for free."""
    parts = len(schedule.route(stages))
    paths = [schedule.path(microbatch, stages, microbatches) for microbatch in range(microbatches)]
    place = {(i, *path[part]): part for i, path in enumerate(paths) for part in range(parts)}
    forwards: dict[tuple[int, int], float] = {}
    backwards: dict[tuple[int, int], float] = {}
    queues = {stage: list(schedule.tasks(stage, stages, microbatches)) for stage in range(stages)}
    spans: dict[int, list[tuple[float, float]]] = {stage: [] for stage in range(stages)}
    progress = True
    while progress:
        progress = False
        for stage, queue in queues.items():
            while queue:
                task = queue[0]
                part = place[task.microbatch, stage, task.chunk]
                here, before, after = ((task.microbatch, part + step) for step in (0, -1, 1))
                if task.phase == "F":
                    ready = 0.0 if part == 0 else forwards.get(before)
                elif task.phase == "W":
                    ready = backwards.get(here)
                else:
                    ready = forwards.get(here) if part == parts - 1 else backwards.get(after)
                if ready is None:
                    break
                start = max(ready, spans[stage][-1][1] if spans[stage] else 0.0)
                end = start + units[task.phase] / schedule.chunks_per_stage * schedule.copies
                spans[stage].append((start, end))
                if task.phase != "W":
                    (forwards if task.phase == "F" else backwards)[here] = end
                queue.pop(0)
                progress = True
    assert not any(queues.values()), f"deadlock: { ({stage: queue[:1] for stage, queue in queues.items()}) }"
    return spans


def end(spans: dict[int, list[tuple[float, float]]]) -> float:
    return max(stage[-1][1] for stage in spans.values())


@every_kind
@every_mesh
def test_schedule_does_everything_once_and_never_waits_forever(schedule, stages, microbatches):
    if schedule.check(stages, microbatches):
        return
    done = Counter((s, t) for s in range(stages) for t in schedule.tasks(s, stages, microbatches))
    assert set(done.values()) == {1}
    phases = Counter(task.phase for _, task in done)
    parts = len(schedule.route(stages))
    assert phases["F"] == phases["B"] + phases["I"] == phases["B"] + phases["W"] == parts * microbatches
    spans = clock(schedule, stages, microbatches)
    for stage in spans.values():
        assert sum(b - a for a, b in stage) == pytest.approx(3 * microbatches)


@every_kind
@every_mesh
def test_weight_gradient_follows_its_input_gradient(schedule, stages, microbatches):
    if schedule.check(stages, microbatches):
        return
    for stage in range(stages):
        tasks = schedule.tasks(stage, stages, microbatches)
        order = {task: index for index, task in enumerate(tasks)}
        for task in tasks:
            if task.phase == "W":
                assert order[task] > order["I", task.microbatch, task.chunk]


@every_kind
@pytest.mark.parametrize("stages, microbatches", [(p, m) for p in (1, 2, 4, 6, 8) for m in (1, 5, 16, 32, 40, 64, 96)])
def test_fewer_microbatches_represent_many(schedule, stages, microbatches):
    few = schedule.representative(stages, microbatches)
    if schedule.check(stages, microbatches) or few == microbatches:
        return
    for stage in range(stages):
        held = peak = 0
        for task in schedule.tasks(stage, stages, microbatches):
            held += {"F": 1, "B": -1, "I": 0, "W": -1}[task.phase]
            peak = max(peak, held)
        assert schedule.in_flight(stage, stages, microbatches) == peak


LARGE = pytest.mark.parametrize("stages, microbatches", [(1, 1), (1, 4), (2, 8), (4, 8), (4, 16), (8, 32)])


@LARGE
@pytest.mark.parametrize("forward, backward", [(1.0, 2.0), (1.0, 3.0), (2.5, 2.5)])
@pytest.mark.parametrize("schedule", [OneForwardOneBackward(), GPipe()], ids=["1f1b", "gpipe"])
def test_bubble_is_p_minus_one_forwards_and_backwards(schedule, stages, microbatches, forward, backward):
    spans = clock(schedule, stages, microbatches, {"F": forward, "B": backward})
    assert end(spans) == pytest.approx((microbatches + stages - 1) * (forward + backward))


@LARGE
@pytest.mark.parametrize("chunks", [2, 3, 4])
def test_interleaving_divides_the_bubble_by_the_chunks(stages, microbatches, chunks):
    spans = clock(InterleavedOneForwardOneBackward(chunks=chunks), stages, microbatches)
    assert end(spans) == pytest.approx(3 * (microbatches + (stages - 1) / chunks))


@LARGE
def test_zb_h1_has_a_third_of_the_bubble(stages, microbatches):
    if microbatches >= stages:
        assert end(clock(ZeroBubbleH1(), stages, microbatches)) == pytest.approx(3 * microbatches + stages - 1)


@pytest.mark.parametrize("stages, microbatches", [(2, 3), (2, 8), (4, 7), (4, 16), (8, 15), (8, 32)])
def test_zb_h2_never_idles_between_first_and_last_task(stages, microbatches):
    for spans in clock(ZeroBubbleH2(), stages, microbatches).values():
        assert spans[-1][1] - spans[0][0] == pytest.approx(3 * microbatches)


@pytest.mark.parametrize("stages, microbatches", [(2, 3), (2, 8), (4, 7), (4, 16), (8, 15), (8, 32)])
def test_zb_v_never_idles_between_first_and_last_task(stages, microbatches):
    for spans in clock(ZeroBubbleV(), stages, microbatches).values():
        assert spans[-1][1] - spans[0][0] == pytest.approx(3 * microbatches)


@pytest.mark.parametrize("stages", [2, 4, 8])
@pytest.mark.parametrize("units", [(1.0, 1.0, 1.0), (1.0, 1.5, 0.5), (2.0, 2.0, 2.0)])
def test_dualpipe_bubble_is_at_most_that_of_its_paper(stages, units):
    # A pair F&B that is not overlapped takes F + B, and its F is done early: the paper's bubble is the upper bound.
    forward, inputs, weights = units
    backward, microbatches = inputs + weights, 4 * stages
    spans = clock(DualPipe(), stages, microbatches, {"F": forward, "B": backward, "I": inputs, "W": weights})
    bubble = end(spans) - microbatches * (forward + backward)
    assert -1e-9 <= bubble <= (stages / 2 - 1) * (forward + 2 * backward - 3 * weights) + 1e-9


@pytest.mark.parametrize("stages", [1, 2, 4, 7])
@pytest.mark.parametrize("microbatches", [1, 3, 8, 40])
def test_1f1b_holds_p_minus_i_microbatches(stages, microbatches):
    for stage in range(stages):
        assert OneForwardOneBackward().in_flight(stage, stages, microbatches) == min(stages - stage, microbatches)
        assert GPipe().in_flight(stage, stages, microbatches) == microbatches


@pytest.mark.parametrize("stages", [2, 4, 8])
@pytest.mark.parametrize("chunks", [2, 3, 5])
@pytest.mark.parametrize("groups", [1, 2, 4, 9])
def test_interleaving_holds_more(stages, chunks, groups):
    microbatches = groups * stages
    schedule = InterleavedOneForwardOneBackward(chunks=chunks)
    for stage in range(stages):
        expected = min(microbatches * chunks, 2 * (stages - stage - 1) + (chunks - 1) * stages + 1)
        assert schedule.in_flight(stage, stages, microbatches) == expected


@pytest.mark.parametrize("stages", [1, 2, 4, 8])
@pytest.mark.parametrize("microbatches", [1, 2, 5, 16, 64])
def test_zero_bubble_holds_p_or_2p_minus_one_on_every_stage(stages, microbatches):
    for stage in range(stages):
        assert ZeroBubbleH1().in_flight(stage, stages, microbatches) == min(stages, microbatches)
        assert ZeroBubbleH2().in_flight(stage, stages, microbatches) == min(2 * stages - 1, microbatches)


@pytest.mark.parametrize("stages", [1, 2, 4, 8])
def test_zb_v_holds_2p_chunks(stages):
    for stage in range(stages):
        assert ZeroBubbleV().in_flight(stage, stages, 8 * stages) <= 2 * stages


@pytest.mark.parametrize("stages", [2, 4, 8])
def test_dualpipe_holds_p_plus_one_microbatches(stages):
    assert max(DualPipe().in_flight(stage, stages, 4 * stages) for stage in range(stages)) == stages + 1


@pytest.mark.parametrize(
    "stages, microbatches, group", [(4, 8, 4), (4, 6, 6), (4, 9, 5), (4, 10, 5), (4, 11, 6), (8, 8, 8), (8, 5, 5)]
)
def test_group_is_the_shortest_that_megatron_core_accepts(stages, microbatches, group):
    assert InterleavedOneForwardOneBackward(chunks=2).group_size(stages, microbatches) == group


def test_refusals_say_the_numbers():
    assert "at least 2 chunks" in InterleavedOneForwardOneBackward(chunks=1).check(4, 8)
    assert "last group would hold 2" in InterleavedOneForwardOneBackward(chunks=2, group=4).check(4, 10)
    assert "at least 8 microbatches" in DualPipe().check(4, 6)
    assert "even" in DualPipe().check(3, 8)


@every_kind
def test_a_schedule_says_whether_it_splits_backwards(schedule):
    phases = {task.phase for stage in range(4) for task in schedule.tasks(stage, 4, 16)}
    assert schedule.splits == bool(phases & {"I", "W"})
