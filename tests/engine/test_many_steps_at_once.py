"""Many steps timed at once take as long as each of them alone."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.engine import pipeline, wavefront
from simulator.engine.work import ChunkWork, Piece, StepWork, Transfer
from simulator.kinds import kinds
from simulator.workload.schedules import Schedule
from simulator.workload.schedules.interleaved_1f1b import InterleavedOneForwardOneBackward
from simulator.workload.schedules.one_f_one_b import OneForwardOneBackward

SCHEDULES = [kind() for kind in kinds("simulator.workload.schedules", Schedule).values()]
seconds = st.floats(0.05, 3.0).map(lambda value: Piece(value, {"compute": value}))
transfers = st.sampled_from([0.0, 0.3, 5.0]).map(Transfer)
chunks = st.builds(
    ChunkWork,
    layers=st.integers(0, 4),
    forward=seconds,
    backward=seconds,
    input_gradient=seconds,
    weight_gradient=seconds,
    reduce=transfers,
    gather=transfers,
)


@st.composite
def alike(draw) -> list[StepWork]:  # type: ignore[no-untyped-def]
    """Steps of one schedule whose chunks and transfers differ."""
    schedule, stages = draw(st.sampled_from(SCHEDULES)), draw(st.sampled_from([1, 2, 4]))
    if schedule.check(stages, 2 * stages):
        schedule = OneForwardOneBackward()
    parts = len(schedule.route(stages))
    flags = {
        name: draw(st.booleans()) for name in ("blocking_send", "overlap_reduce", "reduce_each_round", "overlap_gather")
    }
    microbatches = stages * draw(st.sampled_from([2, 3]))
    return [
        StepWork(
            schedule=schedule,
            stages=stages,
            microbatches=microbatches,
            chunks=tuple(draw(chunks) for _ in range(parts)),
            send=Transfer(draw(st.sampled_from([0.0, 0.2]))),
            communication_sms=draw(st.sampled_from([0.0, 0.05])),
            optimizer=tuple(draw(seconds) for _ in range(stages)),
            end=tuple(draw(seconds) for _ in range(stages)),
            **flags,
        )
        for _ in range(draw(st.integers(1, 3)))
    ]


@given(alike())
@settings(max_examples=150, deadline=None)
def test_steps_at_once_take_as_long_as_alone(works: list[StepWork]) -> None:
    expected = [pipeline.play(work).seconds for work in works]
    assert list(wavefront.play(works)) == pytest.approx(expected, rel=1e-12)


@given(alike(), st.integers(5, 9))
@settings(max_examples=60, deadline=None)
def test_long_steps_go_on_in_the_rhythm_of_short_ones(works: list[StepWork], periods: int) -> None:
    longer = [replace(work, microbatches=work.stages * periods) for work in works]
    expected = [pipeline.play(work).seconds for work in longer]
    assert wavefront.times(longer) == pytest.approx(expected, rel=0.03)


@pytest.mark.parametrize("schedule", [OneForwardOneBackward(), InterleavedOneForwardOneBackward(chunks=3)])
@pytest.mark.parametrize("microbatches", [4, 8, 9, 64, 65])
def test_equal_stages_are_timed_exactly(schedule: Schedule, microbatches: int) -> None:
    one = Piece(1.0, {"compute": 1.0})
    chunk = ChunkWork(layers=1, forward=one, backward=one * 2, input_gradient=one, weight_gradient=one)
    parts = len(schedule.route(4))
    work = StepWork(
        schedule=schedule, stages=4, microbatches=microbatches, chunks=(chunk,) * parts, send=Transfer(0.125)
    )
    assert wavefront.times([work]) == pytest.approx([pipeline.play(work).seconds], rel=1e-12)


def test_steps_of_many_kinds_keep_their_places() -> None:
    one = Piece(1.0, {"compute": 1.0})
    chunk = ChunkWork(layers=1, forward=one, backward=one * 2, input_gradient=one, weight_gradient=one)
    works = [
        StepWork(schedule=OneForwardOneBackward(), stages=p, microbatches=m, chunks=(chunk,) * p)
        for p in (1, 2, 4)
        for m in (4, 8, 40)
    ]
    assert wavefront.times(works) == [(m + p - 1) * 3.0 for p in (1, 2, 4) for m in (4, 8, 40)]
