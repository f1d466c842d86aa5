"""Better policies are never worse, the same seed is the same run, and hopeless runs say so."""

from __future__ import annotations

import time
from dataclasses import replace
from math import inf

import pytest
from small_runs import DAY, HOUR, efficiency, host_failures, job_failures, mean, one, restart, run_of, saves

from simulator.engine.run import RunInput, mtbf, plan, simulate
from simulator.errors import ScenarioError
from simulator.reliability.checkpointing.adaptive import Adaptive
from simulator.reliability.checkpointing.never import Never
from simulator.reliability.checkpointing.optimal import Optimal
from simulator.reliability.checkpointing.young_daly import YoungDaly
from simulator.reliability.durations.fixed import Fixed
from simulator.reliability.failures.exponential import Exponential
from simulator.reliability.failures.weibull import Weibull
from simulator.reliability.fleet import Failures, Lemons

BASE = run_of(
    20 * DAY,
    host_failures(60 * DAY),
    checkpoint=saves(600.0, 10.0),
    recovery=restart(60.0, 480.0, repair=Fixed(time=DAY)),
    spares=4,
)


def goodput(run: RunInput) -> float:
    return mean(outcome.goodput for outcome in simulate(run, 11, 20))


def test_the_same_seed_is_the_same_run_however_many_are_asked_for():
    assert simulate(BASE, 5, 6)[:3] == simulate(BASE, 5, 3)
    assert simulate(BASE, 5, 1) != simulate(BASE, 6, 1)


@pytest.mark.parametrize("exposure", ["uptime", "wall"])
def test_better_is_never_worse_under_the_same_seeds(exposure: str):
    base = replace(BASE, failures=replace(BASE.failures, exposure=exposure))
    reference = goodput(base)
    assert goodput(replace(base, spares=8)) >= reference
    assert goodput(replace(base, spares=None)) >= goodput(replace(base, spares=8))
    assert goodput(replace(base, recovery=restart(10.0, 480.0, repair=Fixed(time=DAY)))) > reference
    assert goodput(replace(base, recovery=restart(60.0, 200.0, repair=Fixed(time=DAY)))) > reference
    assert goodput(replace(base, recovery=restart(60.0, 480.0, repair=Fixed(time=HOUR)))) >= reference
    assert goodput(replace(base, checkpoint=saves(600.0, 1.0))) > reference
    assert goodput(replace(base, failures=replace(base.failures, scale=0.5))) > reference


def test_the_best_interval_beats_its_half_and_its_double():
    run = run_of(50 * DAY, job_failures(2 * HOUR), exposure="wall", recovery=restart(0.0, 300.0))
    best = replace(run, checkpoint=Optimal(stall=60.0))
    interval = plan(best).interval
    for factor in (0.5, 2.0):
        assert goodput(best) > goodput(replace(run, checkpoint=saves(factor * interval, 60.0)))


def test_an_adaptive_interval_ends_near_dalys_whatever_it_believed():
    run = run_of(50 * DAY, job_failures(2 * HOUR), checkpoint=YoungDaly(stall=60.0))
    for guess in (HOUR / 6, 24 * HOUR):
        adaptive = goodput(replace(run, checkpoint=Adaptive(stall=60.0, guess=guess)))
        assert adaptive == pytest.approx(goodput(run), abs=0.003)


@pytest.mark.parametrize("shape", [0.5, 2.0, 4.0])
def test_the_shape_of_lives_does_not_change_the_long_run_count(shape: float):
    def counts(cause: Exponential | Weibull) -> list[int]:
        run = run_of(30 * DAY, (cause,), checkpoint=saves(1.0, 0.0))
        return [outcome.unexpected for outcome in simulate(run, 3, 40)]

    memoryless = counts(Exponential(unit="host", mtbf=20 * DAY))
    shaped = counts(Weibull(unit="host", mtbf=20 * DAY, shape=shape))
    spread = (mean(c**2 for c in memoryless) - mean(memoryless) ** 2) / 40
    spread += (mean(c**2 for c in shaped) - mean(shaped) ** 2) / 40
    assert mean(shaped) == pytest.approx(mean(memoryless), abs=3 * spread**0.5)


def test_twice_the_hosts_at_half_the_rate_are_the_same_job():
    small = run_of(20 * DAY, host_failures(60 * DAY), hosts=128, checkpoint=saves(600.0, 10.0))
    large = run_of(20 * DAY, host_failures(120 * DAY), hosts=256, checkpoint=saves(600.0, 10.0))
    assert simulate(small, 1, 3) == simulate(large, 1, 3)


def test_lemons_do_not_change_the_rate_until_they_are_evicted():
    def count(**fields: object) -> float:
        run = run_of(30 * DAY, host_failures(30 * DAY), hosts=512, checkpoint=saves(1.0, 0.0), **fields)
        return mean(outcome.unexpected for outcome in simulate(run, 1, 20))

    lemons = Lemons(share=0.02, factor=50.0)
    assert count(lemons=lemons) == pytest.approx(count(), rel=0.03)
    # Half of the failures are the lemons': 2% x 50 against 98%.
    assert count(lemons=lemons, evict_after=3) == pytest.approx(count() * 0.98 / 1.98, rel=0.2)


def test_repeats_come_soon_and_leave_the_count_alone():
    def count(repeat: float) -> float:
        run = run_of(30 * DAY, host_failures(30 * DAY), hosts=512, checkpoint=saves(1.0, 0.0), repeat=repeat)
        return mean(outcome.unexpected for outcome in simulate(run, 1, 20))

    assert count(0.3) == pytest.approx(count(0.0), rel=0.02)


def test_a_sick_host_that_is_not_found_fails_again():
    def count(misdiagnosed: float) -> float:
        recovery = restart(misdiagnosed=misdiagnosed)
        run = run_of(300 * DAY, host_failures(300 * DAY), hosts=512, checkpoint=saves(1.0, 0.0), recovery=recovery)
        return mean(outcome.unexpected for outcome in simulate(run, 1, 20))

    assert count(0.2) == pytest.approx(count(0.0) / 0.8, rel=0.02)


HOPELESS = [
    run_of(DAY, job_failures(60.0), exposure="wall", checkpoint=saves(10.0, 1.0), recovery=restart(600.0, 1800.0)),
    run_of(DAY, job_failures(60.0), checkpoint=saves(600.0, 10.0)),
    run_of(365 * DAY, job_failures(HOUR), checkpoint=Never()),
    run_of(DAY, job_failures(11.0), checkpoint=YoungDaly(stall=10.0), recovery=restart(60.0, 480.0)),
    run_of(DAY, job_failures(1e-6), exposure="wall", checkpoint=saves(600.0, 10.0), recovery=restart(60.0, 480.0)),
]


@pytest.mark.parametrize("run", HOPELESS)
def test_a_run_that_cannot_make_progress_says_so_within_seconds(run: RunInput):
    begun = time.perf_counter()
    outcomes = simulate(run, 1, 200)
    assert time.perf_counter() - begun < 2
    assert not outcomes[-1].progress


def test_a_slow_run_is_not_given_up():
    run = run_of(10 * DAY, job_failures(900.0), exposure="wall", checkpoint=saves(60.0, 5.0), recovery=restart(60, 600))
    assert efficiency(simulate(run, 1, 2)) == pytest.approx(0.41, abs=0.03)


def test_what_cannot_be_simulated_is_refused_with_its_reason():
    with pytest.raises(ScenarioError, match="spares are given: give"):
        one(run_of(DAY, host_failures(DAY), spares=2))
    with pytest.raises(ScenarioError, match="the number of units pod is not known"):
        one(run_of(DAY, (Exponential(unit="pod", mtbf=DAY, hosts=4),)))
    with pytest.raises(ScenarioError, match="give `hosts`"):
        one(run_of(DAY, (Exponential(unit="switch", mtbf=DAY),)))
    with pytest.raises(ScenarioError, match="needs `lasts`"):
        one(run_of(DAY, (Exponential(unit="host", mtbf=DAY, effect="slow"),)))


def test_the_time_between_interruptions_counts_what_interrupts():
    slow = Exponential(unit="host", mtbf=DAY, effect="slow", lasts=Fixed(time=60.0))
    run = run_of(DAY, (*host_failures(128 * HOUR), *job_failures(HOUR), slow))
    assert mtbf(run) == pytest.approx(HOUR / 2)
    assert mtbf(replace(run, failures=Failures())) == inf
