"""Every second of a run is booked once; where one is not, the simulator says so itself."""

from __future__ import annotations

import pytest
from small_runs import DAY, HOUR, at, host_failures, one, restart, run_of, saves

from simulator.engine.run.job import Job
from simulator.engine.run.time_account import TimeAccount
from simulator.errors import ConservationError
from simulator.reliability.durations.fixed import Fixed


def booked(**parts: float) -> TimeAccount:
    account = TimeAccount()
    for part, seconds in parts.items():
        account.begin(part, 0.0)
        account.end(seconds)
    return account


def test_an_account_closes_where_its_parts_are_the_time_that_passed():
    booked(train=100.0, detect=20.0).close(120.0, 100.0)


@pytest.mark.parametrize(("now", "work"), [(120.001, 100.0), (119.999, 100.0), (120.0, 99.999)])
def test_an_account_that_lost_a_millisecond_says_so_with_numbers(now: float, work: float):
    with pytest.raises(ConservationError, match="s are booked in 2 parts where"):
        booked(train=100.0, detect=20.0).close(now, work)


def test_work_that_is_lost_is_not_useful():
    account = booked(train=100.0, detect=20.0)
    account.lose(30.0)
    account.close(120.0, 70.0)
    assert (account.parts["train"], account.parts["lost"]) == (70.0, 30.0)


def test_a_run_in_which_time_is_lost_fails_loudly(monkeypatch: pytest.MonkeyPatch):
    def forgetful(self, *stretches):
        yield self.environment.timeout(sum(time for _, time in stretches))

    monkeypatch.setattr(Job, "spend_in_turn", forgetful)
    with pytest.raises(ConservationError, match="wall clock"):
        one(run_of(DAY, at(HOUR), recovery=restart(60.0, 480.0)))


@pytest.mark.parametrize("cut", [i * 97.3 for i in range(1, 60)])
def test_a_run_may_be_cut_in_any_state(cut: float):
    """Waiting for hosts, restarting, evaluating, saving: what is under way is booked up to the cut."""
    run = run_of(
        DAY,
        (*at(500.0, 900.0, 1700.0), *at(2500.0, unit="nic", effect="flap", lasts=Fixed(time=20.0))),
        checkpoint=saves(300.0, 30.0, mode="async", persist=100.0),
        recovery=restart(60.0, 300.0, repair=Fixed(time=1000.0), diagnose=Fixed(time=50.0)),
        spares=1,
        evaluate_every=400.0,
        evaluation=100.0,
        until=cut,
    )
    outcome = one(run)
    assert outcome.wall_clock == cut
    assert sum(outcome.parts.values()) == pytest.approx(cut, rel=1e-12)
    assert min(outcome.parts.values()) >= 0


def test_a_run_cut_while_it_recovers_has_lost_what_it_would_have_gone_back_for():
    run = run_of(DAY, at(500.0), checkpoint=saves(400.0, 0.0), recovery=restart(60.0, 480.0), until=520.0)
    assert one(run).parts["lost"] == pytest.approx(100.0)


def test_a_run_cut_while_it_goes_back_before_silent_damage_has_lost_what_came_after_it():
    corrupt = at(450.0, effect="corrupt", detect=Fixed(time=400.0))
    run = run_of(DAY, corrupt, checkpoint=saves(100.0, 0.0), recovery=restart(60.0, 300.0), until=900.0)
    assert one(run).parts["lost"] == pytest.approx(850 - 400)


def test_the_account_holds_over_five_and_a_half_years():
    run = run_of(2000 * DAY, host_failures(300 * DAY), checkpoint=saves(600.0, 10.0), recovery=restart(60.0, 480.0))
    outcome = one(run)
    assert sum(outcome.parts.values()) == pytest.approx(outcome.wall_clock, rel=1e-12)
