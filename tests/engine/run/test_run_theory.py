"""Simulated runs against exact formulas: they agree within the tolerances of the published cases."""

from __future__ import annotations

from itertools import accumulate

import pytest
from small_runs import DAY, HOUR, at, efficiency, host_failures, job_failures, mean, restart, run_of, saves

from simulator.engine.run import simulate
from simulator.reliability import populations, theory
from simulator.reliability.checkpointing.fixed import FixedInterval
from simulator.reliability.checkpointing.tier import Tier
from simulator.reliability.durations.base import Duration
from simulator.reliability.durations.exponential import ExponentialDuration
from simulator.reliability.durations.fixed import Fixed
from simulator.reliability.durations.lognormal import LognormalDuration
from simulator.reliability.failures.exponential import Exponential
from simulator.reliability.failures.weibull import Weibull


@pytest.mark.parametrize(
    ("work", "tau", "stall", "mtbf", "recovery", "downtime"),
    [(30000, 117, 5, 1440, 10, 0), (30000, 57, 5, 360, 10, 0), (360000, 900, 60, 7200, 300, 120)],
)
def test_the_mean_time_to_completion_is_the_exact_one(work, tau, stall, mtbf, recovery, downtime):
    run = run_of(
        work, job_failures(mtbf), exposure="wall", checkpoint=saves(tau, stall), recovery=restart(downtime, recovery)
    )
    walls = [outcome.wall_clock for outcome in simulate(run, 1, 250)]
    expected = theory.completion(work, tau, stall, mtbf, recovery, downtime)
    error = 3 * (mean(wall**2 for wall in walls) - mean(walls) ** 2) ** 0.5 / len(walls) ** 0.5
    assert mean(walls) == pytest.approx(expected, abs=max(error, 0.005 * expected))


@pytest.mark.parametrize(
    ("tau", "stall", "lag", "mtbf", "recovery", "downtime"),
    [(600, 3, 300, 7200, 300, 120), (300, 1, 200, 1080, 600, 0), (600, 0.6, 51, 11136, 480, 60)],
)
def test_asynchronous_saves_cost_their_stall_and_their_lag(tau, stall, lag, mtbf, recovery, downtime):
    run = run_of(
        60_000 * mtbf**0.5,
        job_failures(mtbf),
        exposure="wall",
        checkpoint=saves(tau, stall, mode="async", persist=lag),
        recovery=restart(downtime, recovery),
    )
    expected = theory.efficiency(tau, stall, mtbf, recovery, downtime, lag)
    assert efficiency(simulate(run, 2, 25)) == pytest.approx(expected, abs=0.002)


@pytest.mark.parametrize(("shape", "expected"), [(0.5, 0.8468), (0.7, 0.8338), (1.0, 0.8272), (1.5, 0.8236)])
def test_a_job_that_is_renewed_at_every_failure(shape, expected):
    causes = (Weibull(unit="job", mtbf=7200.0, shape=shape, age="new"),)
    run = run_of(200 * 200 * HOUR, causes, exposure="wall", checkpoint=saves(900, 60), recovery=restart(120, 300))
    assert efficiency(simulate(run, 1, 1)) == pytest.approx(expected, abs=0.004)


def test_where_metas_formula_fails_the_simulation_is_exact():
    causes = host_failures(DAY / 6.5e-3)
    run = run_of(300 * DAY, causes, hosts=2000, checkpoint=saves(HOUR, 0.0), recovery=restart(300.0))
    mtbf = populations.job_mtbf(2000, 6.5e-3 / DAY)
    exact = theory.efficiency(HOUR, 0.0, mtbf, downtime=300.0)
    assert exact == pytest.approx(0.7210, abs=5e-4)
    assert efficiency(simulate(run, 1, 5)) == pytest.approx(exact, abs=0.005)


def test_twelve_thousand_gpus_of_rsc_1():
    mtbf = populations.job_mtbf(1500, 6.5e-3 / DAY)
    causes = host_failures(DAY / 6.5e-3)
    run = run_of(300 * DAY, causes, hosts=1500, checkpoint=saves(2306, 300), recovery=restart(300.0))
    exact = theory.efficiency(2306, 300, mtbf, downtime=300.0)
    assert exact == pytest.approx(0.7362, abs=5e-4)
    assert efficiency(simulate(run, 1, 5)) == pytest.approx(exact, abs=0.005)


def test_one_failure_every_18_minutes_and_10_minutes_to_recover():
    run = run_of(10 * DAY, at(every=1080.0), exposure="wall", checkpoint=saves(1.0, 0.0), recovery=restart(0.0, 600.0))
    assert efficiency(simulate(run, 1, 1)) == pytest.approx(8 / 18, abs=0.001)


def test_two_tiers():
    tiers = (
        Tier(interval=120.0, stall=1.0, load=120.0, survives=0.8),
        Tier(interval=1800.0, stall=30.0, load=600.0),
    )
    run = run_of(
        2000 * DAY, job_failures(3 * HOUR), exposure="wall", checkpoint=FixedInterval(interval=1.0, tiers=tiers)
    )
    assert efficiency(simulate(run, 1, 1)) == pytest.approx(0.9376, abs=0.004)


def test_one_tier_that_survives_everything_is_a_plain_checkpoint():
    tiers = (Tier(interval=600.0, stall=10.0, load=129.0),)
    tiered = run_of(DAY, host_failures(10 * DAY), checkpoint=FixedInterval(interval=1.0, tiers=tiers))
    plain = run_of(DAY, host_failures(10 * DAY), checkpoint=saves(600.0, 10.0, load=129.0))
    assert simulate(tiered, 1, 5) == simulate(plain, 1, 5)


def test_an_asynchronous_save_without_lag_is_a_blocking_one():
    lagless = run_of(DAY, host_failures(10 * DAY), checkpoint=saves(600.0, 10.0, mode="async", persist=0.0))
    blocking = run_of(DAY, host_failures(10 * DAY), checkpoint=saves(600.0, 10.0))
    assert simulate(lagless, 1, 5) == simulate(blocking, 1, 5)


def test_near_saves_survive_what_they_say():
    def kept(survives: str, unit: str) -> float:
        tiers = (Tier(interval=100.0, stall=0.0, survives=survives), Tier(interval=1000.0, stall=0.0))
        run = run_of(2000.0, at(950.0, unit=unit), checkpoint=FixedInterval(interval=1.0, tiers=tiers), hosts_of=behind)
        return simulate(run, 1, 1)[0].parts["lost"]

    behind = {"switch": 16, "power": 128}
    survived, lost = pytest.approx(50.0), pytest.approx(950.0)
    assert [kept("process", unit) for unit in ("job", "gpu", "switch", "power")] == [survived, lost, lost, lost]
    assert [kept("host", unit) for unit in ("job", "gpu", "switch", "power")] == [survived, survived, lost, lost]
    assert [kept("rack", unit) for unit in ("job", "gpu", "switch", "power")] == [survived, survived, survived, lost]


def test_peers_lose_a_save_when_a_whole_group_is_lost():
    tiers = (Tier(interval=100.0, stall=0.0, survives="rack", peers=2), Tier(interval=1e4, stall=0.0))
    run = run_of(200.0, at(150.0, hosts=3), hosts=16, checkpoint=FixedInterval(interval=1.0, tiers=tiers))
    survived = mean(outcome.parts["lost"] < 100 for outcome in simulate(run, 1, 400))
    assert survived == pytest.approx(0.8, abs=3 * (0.16 / 400) ** 0.5)


@pytest.mark.parametrize(
    ("hosts", "rate", "repair", "spares", "expected"),
    [
        (2048, 0.00379, Fixed(time=DAY), 9, 0.11100),
        (2048, 0.00379, ExponentialDuration(mean=DAY), 9, 0.11100),
        (2048, 0.00379, LognormalDuration(mean=DAY, cv=1.5), 9, 0.11100),
        (128, 0.0065, Fixed(time=2 * DAY), 3, 0.06220),
    ],
)
def test_waiting_for_hosts_is_erlangs_loss_whatever_the_repair(
    hosts: int, rate: float, repair: Duration, spares: int, expected: float
):
    work = 60_000 / (hosts * rate) * DAY
    causes = host_failures(DAY / rate)
    run = run_of(work, causes, hosts=hosts, checkpoint=saves(1.0, 0.0), recovery=restart(repair=repair), spares=spares)
    (outcome,) = simulate(run, 1, 1)
    assert outcome.parts["wait"] / outcome.wall_clock == pytest.approx(expected, rel=0.05)


@pytest.mark.parametrize(("repair", "expected"), [(2.0, 3), (40.4, 22)])
def test_hosts_out_for_repair_are_poisson(repair: float, expected: int):
    causes = host_failures(DAY / 0.00379)
    recovery = restart(repair=ExponentialDuration(mean=repair * HOUR))
    run = run_of(3000 * DAY, causes, hosts=2048, checkpoint=saves(1.0, 0.0), recovery=recovery)
    (outcome,) = simulate(run, 1, 1)
    assert sum(outcome.hosts_out.values()) == pytest.approx(outcome.wall_clock)
    shares = accumulate(seconds / outcome.wall_clock for seconds in outcome.hosts_out.values())
    quantile = next(out for out, share in zip(outcome.hosts_out, shares, strict=True) if share >= 0.99)
    assert quantile == pytest.approx(expected, abs=1)


def test_hosts_and_the_switches_above_them_fail_by_their_own_rates():
    causes = (
        Exponential(name="host", unit="host", mtbf=DAY / 3.0e-3),
        Exponential(name="switch", unit="switch", mtbf=DAY / 1.7e-3),  # a hundred times the published rate
    )
    run = run_of(500 * DAY, causes, hosts=2048, checkpoint=saves(1.0, 0.0), hosts_of={"switch": 16})
    (outcome,) = simulate(run, 1, 1)
    assert outcome.interruptions["host"] / 500 == pytest.approx(2048 * 3.0e-3, abs=3 * (6.144 / 500) ** 0.5)
    assert outcome.interruptions["switch"] / 500 == pytest.approx(128 * 1.7e-3, abs=3 * (0.2176 / 500) ** 0.5)


def test_a_published_fleet_that_was_up_55_percent_of_the_time():
    # OPT-175B: 13.9 failures per 1,000 node-days of wall clock on 124 hosts, 6.3 h each.
    causes = host_failures(61 * DAY * 0.55 * 124 / 105)
    run = run_of(3300 * DAY, causes, hosts=124, checkpoint=saves(1.0, 0.0), recovery=restart(6.3 * HOUR))
    assert efficiency(simulate(run, 1, 1)) == pytest.approx(0.55, abs=0.04)
