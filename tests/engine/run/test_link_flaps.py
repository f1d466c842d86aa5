"""A link that goes down stalls the job up to the timeout of its collectives, and kills it beyond."""

from __future__ import annotations

from math import exp

import pytest
from small_runs import HOUR, at, one, restart, run_of, saves

from simulator.engine.run import Outcome, mtbf, simulate
from simulator.reliability.durations.exponential import ExponentialDuration
from simulator.reliability.durations.fixed import Fixed
from simulator.reliability.failures.exponential import Exponential


def flaps(*times: float, lasts: float, timeout: float = 7.5, **fields):
    return at(*times, unit="nic", effect="flap", lasts=Fixed(time=lasts), timeout=timeout, **fields)


def parts(outcome: Outcome) -> dict[str, float]:
    return {name: value for name, value in outcome.parts.items() if value}


def test_a_link_that_is_back_before_the_timeout_stalls_the_job():
    outcome = one(run_of(1000.0, flaps(300.0, 600.0, lasts=5.0)))
    assert parts(outcome) == pytest.approx({"train": 1000, "degraded": 10})
    assert sum(outcome.interruptions.values()) == 0
    assert outcome.episodes == 2


def test_a_link_that_is_down_as_long_as_the_timeout_is_back_in_time():
    assert sum(one(run_of(1000.0, flaps(300.0, lasts=7.5))).interruptions.values()) == 0


def test_a_link_that_is_down_longer_kills_the_job_when_collectives_time_out():
    run = run_of(1000.0, flaps(700.0, lasts=8.0), checkpoint=saves(600.0, 0.0), recovery=restart(60.0, 480.0))
    outcome = one(run)
    assert parts(outcome) == pytest.approx({"train": 1000, "lost": 100, "detect": 7.5, "restart": 480})
    assert sum(outcome.interruptions.values()) == 1


def test_links_that_are_down_at_the_same_time_stall_the_job_once():
    causes = (*flaps(300.0, lasts=6.0), *flaps(302.0, lasts=7.0))
    outcome = one(run_of(1000.0, causes, exposure="wall"))
    assert parts(outcome) == pytest.approx({"train": 1000, "degraded": 9})


def test_a_failure_ends_a_stall():
    causes = (*flaps(300.0, lasts=6.0), *at(302.0))
    outcome = one(run_of(1000.0, causes, exposure="wall", recovery=restart(0.0, 480.0)))
    assert parts(outcome) == pytest.approx({"train": 1000, "lost": 300, "degraded": 2, "restart": 480})


def test_a_stall_does_not_end_a_save_or_an_evaluation():
    run = run_of(1000.0, flaps(605.0, lasts=5.0), checkpoint=saves(600.0, 10.0))
    assert parts(one(run)) == pytest.approx({"train": 1000, "checkpoint": 20, "degraded": 5})
    run = run_of(1000.0, flaps(605.0, lasts=5.0), evaluate_every=600.0, evaluation=60.0)
    assert parts(one(run)) == pytest.approx({"train": 1000, "other": 60, "degraded": 5})


def test_a_job_that_is_down_is_not_stalled():
    run = run_of(1000.0, (*at(300.0), *flaps(400.0, lasts=5.0)), exposure="wall", recovery=restart(0.0, 480.0))
    assert parts(one(run)) == pytest.approx({"train": 1000, "lost": 300, "restart": 480})


def test_without_a_spare_the_job_waits_until_the_link_is_back():
    run = run_of(1000.0, flaps(300.0, lasts=100.0), spares=0)
    assert parts(one(run)) == pytest.approx({"train": 1000, "lost": 300, "detect": 7.5, "wait": 92.5})


def test_a_repair_keeps_the_host_away_longer_than_its_link():
    run = run_of(1000.0, flaps(300.0, lasts=100.0, repair=Fixed(time=HOUR)), spares=0)
    assert one(run).parts["wait"] == pytest.approx(HOUR - 7.5)


def test_the_share_of_flaps_that_kill_is_that_beyond_the_timeout():
    """Of exponential outages of 5 s, exp(-7.5/5) are longer than 7.5 s."""
    lasts = ExponentialDuration(mean=5.0)
    cause = Exponential(unit="nic", mtbf=1e6, effect="flap", lasts=lasts, timeout=7.5)
    run = run_of(1e6, (cause,), checkpoint=saves(600.0, 0.0))
    assert mtbf(run) == pytest.approx(1e6 / 1024 / exp(-1.5))
    outcomes = simulate(run, seed=1, runs=10)
    killed = sum(sum(outcome.interruptions.values()) for outcome in outcomes)
    stalled = sum(outcome.episodes for outcome in outcomes)
    assert killed / (killed + stalled) == pytest.approx(exp(-1.5), abs=0.015)


def test_a_longer_timeout_trades_deaths_for_stalls():
    cause = {"unit": "nic", "mtbf": 1e6, "effect": "flap", "lasts": ExponentialDuration(mean=5.0)}
    short, long = (
        simulate(run_of(1e6, (Exponential(**cause, timeout=timeout),), checkpoint=saves(600.0, 0.0)), 1, 3)
        for timeout in (7.5, 30.0)
    )
    assert sum(sum(o.interruptions.values()) for o in long) < 0.1 * sum(sum(o.interruptions.values()) for o in short)
    assert sum(o.parts["degraded"] for o in long) > sum(o.parts["degraded"] for o in short)
