"""Where the work stands, against a clock that ticks through every save."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.engine.run.progress import Progress
from simulator.reliability.checkpointing.fixed import FixedInterval
from simulator.reliability.checkpointing.plan import SavePlan, save_plan
from simulator.reliability.checkpointing.tier import Tier

ONE = SavePlan(tiers=(Tier(interval=100.0, stall=7.0, persist=40.0),), every=(1,))
TWO = save_plan(
    FixedInterval(
        interval=1.0,
        tiers=(Tier(interval=100.0, stall=2.0, persist=5.0), Tier(interval=400.0, stall=30.0, persist=250.0)),
    ),
    mtbf=math.inf,
    recovery=0.0,
)


def ticking(plan: SavePlan, time: float, factor: float) -> tuple[float, list[float | None]]:
    """Return the work after `time`, and of each tier the work of the newest save that can be used then."""
    now, work, number = 0.0, 0.0, 0
    usable: list[float | None] = [None] * len(plan.tiers)
    usable[-1] = 0.0
    ready: list[tuple[float, int, float]] = []
    interval = plan.tiers[0].interval
    while now + interval * factor <= time:
        now += interval * factor
        work += interval
        number += 1
        tier = max(tier for tier, every in enumerate(plan.every) if number % every == 0)
        now += plan.tiers[tier].stall
        if now > time:
            break
        ready.append((now + plan.tiers[tier].persist, tier, work))
    else:
        work += (time - now) / factor
    for when, tier, saved in ready:
        if when <= time:
            usable[tier] = saved
    return work, usable


@pytest.mark.parametrize("plan", [ONE, TWO], ids=["one tier", "two tiers"])
@given(stretches=st.lists(st.floats(0.01, 2000.0), min_size=1, max_size=6), factor=st.sampled_from([1.0, 1.25, 3.0]))
def test_stretches_of_any_length_tell_the_same_as_ticks(plan: SavePlan, stretches: list[float], factor: float):
    progress = Progress(plan)
    progress.run_at(factor)
    now = worked = paid = 0.0
    for stretch in stretches:
        now += stretch
        work, saving = progress.run(stretch, now)
        worked += work
        paid += saving
    expected, usable = ticking(plan, now, factor)
    assert progress.work == pytest.approx(expected, abs=1e-6)
    assert worked * factor + paid == pytest.approx(now)
    for tier, saved in enumerate(usable):
        found = progress.usable(tier, now)
        assert (found.work if found else None) == (saved if saved is None else pytest.approx(saved, abs=1e-6))


@pytest.mark.parametrize("plan", [ONE, TWO], ids=["one tier", "two tiers"])
@given(before=st.floats(0.0, 3000.0), ahead=st.floats(0.1, 3000.0), factor=st.sampled_from([1.0, 1.25]))
def test_the_time_to_some_work_is_when_it_is_done(plan: SavePlan, before: float, ahead: float, factor: float):
    progress = Progress(plan)
    progress.run_at(factor)
    progress.run(before, before)
    goal = progress.work + ahead
    needed = progress.time_to(goal)
    progress.run(needed, before + needed)
    assert progress.work == pytest.approx(goal, abs=1e-6)
    assert needed >= ahead * factor - 1e-6


def test_work_due_right_at_a_save_does_not_wait_for_it():
    progress = Progress(ONE)
    assert progress.time_to(100.0) == 100.0
    assert progress.time_to(200.0) == 207.0
    assert progress.time_to(200.5) == 214.5


def test_without_saves_work_is_time():
    progress = Progress(SavePlan())
    assert progress.time_to(12345.6) == 12345.6
    assert progress.run(1000.0, 1000.0) == (1000.0, 0.0)
    assert progress.start_over() == 1000.0


def test_going_back_to_a_near_save_goes_on_in_its_rhythm():
    progress = Progress(TWO)
    progress.run(350.0, 350.0)  # three saves to the near tier, at 100, 200 and 300
    saved = progress.usable(0, 350.0)
    assert saved is not None
    assert (saved.work, saved.number) == (300.0, 3)
    assert progress.go_back(0, saved) == pytest.approx(progress.work - 300.0 + 44.0)
    progress.run(100.0 + 30.0 + 250.0, 730.0)  # the fourth goes to the far tier
    far = progress.usable(1, 730.0)
    assert far is not None
    assert far.work == 400.0


def test_going_back_to_a_far_save_forgets_the_near_ones():
    progress = Progress(TWO)
    progress.run(350.0, 350.0)
    far = progress.usable(1, 350.0)
    assert far is not None
    progress.go_back(1, far)
    assert progress.work == 0.0
    assert progress.usable(0, 350.0) is None


def test_what_was_destroyed_does_not_come_back_until_it_is_saved_again():
    progress = Progress(TWO)
    progress.run(350.0, 350.0)
    progress.destroy(0)
    progress.run(10.0, 360.0)
    assert progress.usable(0, 360.0) is None
    progress.run(400.0, 760.0)
    assert progress.usable(0, 760.0) is not None


def test_a_save_outside_the_rhythm_starts_the_rhythm_anew():
    progress = Progress(ONE)
    progress.run(150.0, 150.0)
    assert progress.stall_left == 7.0
    progress.save_here(157.0)
    assert progress.time_to(progress.work + 100.0) == 100.0
    progress.run(103.0, 260.0)  # three seconds into the save
    assert progress.stall_left == pytest.approx(4.0)
