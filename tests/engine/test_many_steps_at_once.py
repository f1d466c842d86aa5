"""Many steps timed at once take as long as each of them alone."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from steps import equal, works

from simulator.engine.step import recorded, stage_clocks
from simulator.engine.step.transfers import Transfer
from simulator.engine.step.work import StepWork
from simulator.workload.schedules import Schedule
from simulator.workload.schedules.interleaved_1f1b import InterleavedOneForwardOneBackward
from simulator.workload.schedules.one_f_one_b import OneForwardOneBackward


@given(st.lists(works(stages=(1, 2, 4), takes=0.0), min_size=1, max_size=3))
@settings(max_examples=150, deadline=None)
def test_steps_at_once_take_as_long_as_alone(steps: list[StepWork]) -> None:
    """Any steps: some alike, and all in their places."""
    alike = [replace(step, send=step.send.part_of(3.0)) for step in steps]
    assert recorded.alike(alike[0]) == recorded.alike(steps[0])
    both = [recorded.play([one, other]) for one, other in zip(steps, alike, strict=True)]
    expected = [[stage_clocks.play(one).seconds for one in pair] for pair in zip(steps, alike, strict=True)]
    assert [list(pair) for pair in both] == [pytest.approx(pair, rel=1e-12) for pair in expected]


@given(works(stages=(1, 2, 4), takes=0.0), st.integers(5, 9))
@settings(max_examples=60, deadline=None)
def test_long_steps_go_on_in_the_rhythm_of_short_ones(step: StepWork, periods: int) -> None:
    longer = replace(step, microbatches=step.stages * periods)
    assert recorded.times([longer]) == pytest.approx([stage_clocks.play(longer).seconds], rel=0.03)


@pytest.mark.parametrize("schedule", [OneForwardOneBackward(), InterleavedOneForwardOneBackward(chunks=3)])
@pytest.mark.parametrize("microbatches", [4, 8, 9, 64, 65])
def test_equal_stages_are_timed_exactly(schedule: Schedule, microbatches: int) -> None:
    work = equal(schedule, 4, microbatches, send=Transfer("pipeline", 0.125))
    assert recorded.times([work]) == pytest.approx([stage_clocks.play(work).seconds], rel=1e-12)


def test_steps_of_many_kinds_keep_their_places() -> None:
    works = [equal(OneForwardOneBackward(), p, m) for p in (1, 2, 4) for m in (4, 8, 40)]
    assert recorded.times(works) == [(m + p - 1) * 3.0 for p in (1, 2, 4) for m in (4, 8, 40)]
