"""The fast clock and simpy's clock, against closed forms and against each other."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.engine import pipeline, step
from simulator.engine.work import ChunkWork, Piece, StepWork, Transfer
from simulator.kinds import kinds
from simulator.workload.schedules import Schedule
from simulator.workload.schedules.gpipe import GPipe
from simulator.workload.schedules.interleaved_1f1b import InterleavedOneForwardOneBackward
from simulator.workload.schedules.one_f_one_b import OneForwardOneBackward

SCHEDULES = [kind() for kind in kinds("simulator.workload.schedules", Schedule).values()]


def compute(seconds: float) -> Piece:
    return Piece(seconds, {"compute": seconds})


def chunk(forward: float = 1.0, backward: float = 2.0, **more) -> ChunkWork:
    return ChunkWork(
        layers=more.pop("layers", 2),
        forward=compute(forward),
        backward=compute(backward),
        input_gradient=compute(backward / 2),
        weight_gradient=compute(backward / 2),
        **more,
    )


def equal(schedule: Schedule, stages: int, microbatches: int, forward=1.0, backward=2.0, **more) -> StepWork:
    parts = len(schedule.route(stages))
    chunks = tuple(chunk(forward, backward) for _ in range(parts))
    return StepWork(schedule=schedule, stages=stages, microbatches=microbatches, chunks=chunks, **more)


CLOCKS = pytest.mark.parametrize(
    "clock", [pipeline.time, lambda work: step.simulate(work).timing], ids=["fast", "simpy"]
)


@CLOCKS
@pytest.mark.parametrize("schedule", [OneForwardOneBackward(), GPipe()], ids=lambda schedule: schedule.kind)
@pytest.mark.parametrize(("p", "m"), [(1, 1), (2, 4), (4, 8), (8, 32), (8, 160)])
def test_equal_stages_take_m_plus_p_minus_one_turns(clock, schedule, p, m):
    assert clock(equal(schedule, p, m)).seconds == (m + p - 1) * 3.0


@CLOCKS
@pytest.mark.parametrize(("p", "m", "v"), [(2, 4, 2), (4, 8, 4), (8, 32, 2), (4, 64, 2)])
def test_interleaving_divides_the_bubble_by_its_chunks(clock, p, m, v):
    work = equal(InterleavedOneForwardOneBackward(chunks=v), p, m, 1 / v, 2 / v)
    assert clock(work).seconds == pytest.approx((m + (p - 1) / v) * 3.0, rel=1e-12)


@pytest.mark.parametrize("p", [2, 4, 8, 16])
def test_the_bubble_is_below_a_fifth_at_four_microbatches_a_stage(p):
    timing = pipeline.time(equal(OneForwardOneBackward(), p, 4 * p))
    bubble = timing.parts["bubble"] / timing.seconds
    assert bubble == pytest.approx((p - 1) / (5 * p - 1))
    assert bubble < 0.2


@CLOCKS
def test_one_stage_without_communication_is_its_compute(clock):
    assert clock(equal(OneForwardOneBackward(), 1, 7)).parts == {"compute": 21.0}


times = st.floats(0.05, 3.0)


@st.composite
def works(draw) -> StepWork:
    schedule = draw(st.sampled_from(SCHEDULES))
    stages = draw(st.sampled_from([2, 4]))
    microbatches = stages * draw(st.integers(2, 4))
    parts = len(schedule.route(stages))
    chunks = tuple(
        chunk(
            draw(times),
            draw(times),
            layers=draw(st.integers(1, 4)),
            reduce=Transfer(draw(st.sampled_from([0.0, 0.3, 5.0]))),
            gather=Transfer(draw(st.sampled_from([0.0, 0.3, 5.0]))),
        )
        for _ in range(parts)
    )
    return StepWork(
        schedule=schedule,
        stages=stages,
        microbatches=microbatches,
        chunks=chunks,
        send=Transfer(draw(st.sampled_from([0.0, 0.2]))),
        blocking_send=draw(st.booleans()),
        overlap_reduce=draw(st.booleans()),
        reduce_each_round=draw(st.booleans()),
        overlap_gather=draw(st.booleans()),
        communication_sms=draw(st.sampled_from([0.0, 0.05])),
        optimizer=tuple(compute(draw(times)) for _ in range(stages)),
    )


@given(works())
@settings(max_examples=150, deadline=None)
def test_both_clocks_agree_where_no_two_transfers_share_a_link(work):
    fast, simulated = pipeline.play(work), step.simulate(work).timing
    assert simulated.seconds == pytest.approx(fast.seconds, rel=1e-9)
    assert sum(fast.parts.values()) == pytest.approx(fast.seconds, rel=1e-9)
    assert sum(simulated.parts.values()) == pytest.approx(simulated.seconds, rel=1e-9)


@given(works(), st.integers(6, 12))
@settings(max_examples=50, deadline=None)
def test_the_extrapolated_step_is_within_two_percent_however_uneven(work, times_as_many):
    work = replace(work, microbatches=work.stages * times_as_many)
    assert pipeline.time(work).seconds == pytest.approx(pipeline.play(work).seconds, rel=0.02)


@given(works())
@settings(max_examples=50, deadline=None)
def test_spans_of_a_stage_never_overlap(work):
    spans = step.simulate(work).spans
    for stage in range(work.stages):
        mine = sorted((span.start, span.duration) for span in spans if span.track == f"stage {stage}")
        ends = [start + duration for start, duration in mine]
        assert all(end <= start + 1e-9 for end, (start, _) in zip(ends, mine[1:], strict=False))


def test_a_send_beside_a_reduction_on_the_same_links_is_slowed():
    reduce = Transfer(4.0, 4.0, scale_out=True, load=1.0)
    chunks = (chunk(reduce=reduce), chunk(reduce=reduce))
    send = Transfer(0.5, 0.5, scale_out=True, load=1.0)
    work = StepWork(schedule=GPipe(), stages=2, microbatches=4, chunks=chunks, send=send, reduce_each_round=True)
    assert step.simulate(work).timing.seconds > pipeline.play(work).seconds


def test_the_same_step_twice_is_the_same_to_the_last_bit():
    transfer = Transfer(0.3, 1.0, scale_out=True, load=0.8)
    work = equal(InterleavedOneForwardOneBackward(chunks=4), 4, 8, 0.25, 0.5, send=transfer * 0.2)
    work = replace(work, chunks=tuple(replace(one, reduce=transfer, gather=transfer) for one in work.chunks))
    assert step.simulate(work) == step.simulate(work)
