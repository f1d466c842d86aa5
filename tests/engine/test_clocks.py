"""The clocks of a step, against closed forms and against each other."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from steps import chunk, equal, sharded, works

from simulator.engine.step import recorded, simulated, stage_clocks
from simulator.engine.step.contention import Taken
from simulator.engine.step.transfers import Transfer
from simulator.engine.step.work import StepWork
from simulator.workload.schedules.gpipe import GPipe
from simulator.workload.schedules.interleaved_1f1b import InterleavedOneForwardOneBackward
from simulator.workload.schedules.one_f_one_b import OneForwardOneBackward

CLOCKS = pytest.mark.parametrize(
    "clock",
    [
        lambda work: stage_clocks.time(work).seconds,
        lambda work: simulated.time(work).seconds,
        lambda work: recorded.times([work])[0],
    ],
    ids=["without sharing", "simpy", "recorded"],
)


@CLOCKS
@pytest.mark.parametrize("schedule", [OneForwardOneBackward(), GPipe()], ids=lambda schedule: schedule.kind)
@pytest.mark.parametrize(("p", "m"), [(1, 1), (2, 4), (4, 8), (8, 32), (8, 160)])
def test_equal_stages_take_m_plus_p_minus_one_turns(clock, schedule, p, m):
    assert clock(equal(schedule, p, m)) == (m + p - 1) * 3.0


@CLOCKS
@pytest.mark.parametrize(("p", "m", "v"), [(2, 4, 2), (4, 8, 4), (8, 32, 2), (4, 64, 2)])
def test_interleaving_divides_the_bubble_by_its_chunks(clock, p, m, v):
    work = equal(InterleavedOneForwardOneBackward(chunks=v), p, m, 1 / v, 2 / v)
    assert clock(work) == pytest.approx((m + (p - 1) / v) * 3.0, rel=1e-12)


@pytest.mark.parametrize("p", [2, 4, 8, 16])
def test_the_bubble_is_p_minus_one_of_m_plus_p_minus_one(p):
    timing = simulated.time(equal(OneForwardOneBackward(), p, 4 * p))
    assert timing.parts["bubble"] / timing.seconds == pytest.approx((p - 1) / (5 * p - 1))


def test_one_stage_without_communication_is_its_compute():
    assert simulated.time(equal(OneForwardOneBackward(), 1, 7)).parts == {"compute": 21.0}


@pytest.mark.parametrize(("reduce", "seconds"), [(1.0, 4.5), (6.0, 9.0)])
def test_gradients_of_a_layer_are_reduced_as_soon_as_its_backward_is_done(reduce, seconds):
    """Forward 2 and backward 2 in two layers: half of a short reduction is hidden, a long one starts after one."""
    one = chunk(2.0, 2.0, reduce=Transfer("data", reduce))
    work = StepWork(schedule=OneForwardOneBackward(), stages=1, microbatches=1, chunks=(one,))
    timing = simulated.time(work)
    assert timing.seconds == max(4.0 + reduce / 2, 3.0 + reduce) == seconds
    assert timing.parts == {"compute": 4.0, "data": timing.seconds - 4.0}


def test_compute_beside_a_reduction_is_slower_for_as_long_as_it_runs():
    """The second layer does 1 s of work beside 0.8 s of reduction that leaves half of it: 0.4 + 0.6 s."""
    one = chunk(2.0, 2.0, reduce=Transfer("data", 1.6, takes=Taken(0.5, 0.5)))
    work = StepWork(schedule=OneForwardOneBackward(), stages=1, microbatches=1, chunks=(one,))
    assert simulated.time(work).seconds == pytest.approx(2.0 + 1.0 + 1.4 + 0.8)


@given(works())
@settings(max_examples=200, deadline=None)
def test_simpy_is_the_clock_without_sharing_where_nothing_is_shared(work):
    alone, simulation = stage_clocks.play(work), simulated.simulate(work).timing
    assert simulation.seconds == pytest.approx(alone.seconds, rel=1e-9)
    assert sum(alone.parts.values()) == pytest.approx(alone.seconds, rel=1e-9)
    assert sum(simulation.parts.values()) == pytest.approx(simulation.seconds, rel=1e-9)


@given(works(), st.sampled_from([0.0, 0.2, 2.0]), st.sampled_from([0.0, 0.3, 3.0]), st.integers(0, 2))
@settings(max_examples=100, deadline=None)
def test_they_agree_on_weights_that_are_gathered_in_every_microbatch(work, gather, reduce, prefetch):
    work = sharded(
        work, Transfer("data", gather, takes=Taken(0.2)), Transfer("data", reduce, takes=Taken(0.3, 0.4)), prefetch
    )
    assert simulated.simulate(work).timing.seconds == pytest.approx(stage_clocks.play(work).seconds, rel=1e-9)


@given(works(load=0.9))
@settings(max_examples=100, deadline=None)
def test_folded_work_takes_as_long_as_work_played_operation_by_operation(work):
    folded, whole = simulated.simulate(work), simulated.simulate(work, fold=False)
    assert folded.timing.seconds == pytest.approx(whole.timing.seconds, rel=1e-9)


@given(works(load=0.9, takes=0.0))
@settings(max_examples=150, deadline=None)
def test_nothing_is_faster_than_without_sharing(work):
    """With nothing taken from compute, transfers that share links only end later."""
    bound = recorded.play([work])[0]
    assert bound == pytest.approx(stage_clocks.play(work).seconds, rel=1e-9)
    assert bound <= simulated.simulate(work).timing.seconds * (1 + 1e-9)


@given(works(load=0.9))
@settings(max_examples=100, deadline=None)
def test_the_recorded_step_is_a_lower_bound_of_simpy(work):
    assert recorded.play([work])[0] <= simulated.simulate(work).timing.seconds * (1 + 1e-9)


@given(works(), st.integers(8, 14))
@settings(max_examples=40, deadline=None)
def test_a_long_step_goes_on_in_its_rhythm(work, periods):
    work = replace(work, microbatches=work.stages * periods)
    assert stage_clocks.time(work).seconds == pytest.approx(stage_clocks.play(work).seconds, rel=0.02)


@given(works(load=0.9))
@settings(max_examples=50, deadline=None)
def test_spans_of_a_stage_never_overlap(work):
    spans = simulated.simulate(work).spans
    for stage in range(work.stages):
        mine = sorted((span.start, span.duration) for span in spans if span.track == f"stage {stage}")
        ends = [start + duration for start, duration in mine]
        assert all(end <= start + 1e-9 for end, (start, _) in zip(ends, mine[1:], strict=False))


def test_a_send_beside_a_reduction_on_the_same_links_is_slowed():
    loads = (("nic out", 1.0), ("nic in", 1.0))
    chunks = (chunk(reduce=Transfer("data", 4.0, loads=loads)),) * 2
    send = Transfer("pipeline", 0.5, loads=loads)
    work = StepWork(schedule=GPipe(), stages=2, microbatches=4, chunks=chunks, send=send, reduce_each_round=True)
    found = simulated.simulate(work)
    assert found.timing.seconds > stage_clocks.play(work).seconds
    assert found.meetings > 0


def test_sends_to_one_stage_follow_each_other():
    """Four forwards of 1 s, sends of 2 s: the last input comes at 1 + 4 x 2, the last gradient 4 x 2 after two."""
    send = Transfer("pipeline", 2.0)
    chunks = (chunk(1.0, 1.0), chunk(1.0, 1.0))
    work = StepWork(schedule=GPipe(), stages=2, microbatches=4, chunks=chunks, send=send)
    assert simulated.time(work).seconds == stage_clocks.time(work).seconds == (1 + 4 * 2) + 1 + 1 + 4 * 2 + 1


def test_the_same_step_twice_is_the_same_to_the_last_bit():
    loads = (("nic out", 0.8), ("nic in", 0.8))
    transfer = Transfer("data", 0.3, (), loads, Taken(0.1))
    work = equal(InterleavedOneForwardOneBackward(chunks=4), 4, 8, 0.25, 0.5, send=transfer._replace(seconds=0.06))
    chunks = tuple(chunk(0.25, 0.5, reduce=transfer, gather=transfer) for _ in work.chunks)
    work = replace(work, chunks=chunks)
    assert simulated.simulate(work) == simulated.simulate(work)
