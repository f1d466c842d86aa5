"""Closed forms of fleets against published and tabulated figures."""

from __future__ import annotations

import pytest

from simulator.reliability import populations as fleet
from simulator.reliability import theory
from simulator.reliability.checkpointing.cost import load_time, save_overhead

HOUR, DAY = 3600.0, 86400.0


def test_time_between_failures_of_meta_research_clusters():
    assert fleet.job_mtbf(2048, 6.50e-3 / DAY) == pytest.approx(1.803 * HOUR, rel=0.005)
    assert fleet.job_mtbf(1, 22.3e-3 / DAY) == pytest.approx(47.7 * DAY, rel=0.08)
    assert fleet.job_mtbf(128, 22.3e-3 / DAY) == pytest.approx(7.9 * HOUR, rel=0.08)


def test_time_between_failures_of_100_000_and_a_million_gpus():
    assert fleet.job_mtbf(100_000, 1 / (50_000 * HOUR)) == pytest.approx(30 * 60)
    assert fleet.job_mtbf(1_000_000, 1 / (50_000 * HOUR)) == pytest.approx(3 * 60)


@pytest.mark.parametrize(
    ("hosts", "rate", "interval", "stall", "published"),
    [(1500, 6.5e-3, 2306, 300, 0.7398), (1500, 1e-3, 5879, 300, 0.8979), (2000, 6.5e-3, 300, 0, 0.9323)],
)
def test_the_effective_training_time_ratio_of_meta(hosts, rate, interval, stall, published):
    ratio = theory.effective_training_time_ratio(hosts, rate / DAY, interval, stall, 300.0)
    assert ratio == pytest.approx(published, abs=5e-4)


def test_the_ratio_of_meta_is_too_low_where_failures_are_dense():
    mtbf = fleet.job_mtbf(2000, 6.5e-3 / DAY)
    ratio = theory.effective_training_time_ratio(2000, 6.5e-3 / DAY, HOUR, 0.0, 300.0)
    assert ratio == pytest.approx(0.6840, abs=5e-4)
    assert theory.efficiency(HOUR, 0.0, mtbf, downtime=300.0) == pytest.approx(0.7210, abs=5e-4)


def test_elastic_training_of_98_304_gpus():
    assert theory.elastic(18.0, 10.0, 0.0, 12) == pytest.approx(0.4444, abs=1e-4)
    assert theory.elastic(18.0, 3.0, 7.0, 12) == pytest.approx(0.8009, abs=1e-4)


@pytest.mark.parametrize(
    ("tau", "stall", "mtbf", "recovery", "downtime", "work", "expected"),
    [
        (117, 5, 1440, 10, 0, 30000, 32874.7),
        (57, 5, 360, 10, 0, 30000, 36615.5),
        (900, 60, 7200, 300, 120, 36e4, 435391.6),
    ],
)
def test_the_exact_time_to_completion(tau, stall, mtbf, recovery, downtime, work, expected):
    assert theory.completion(work, tau, stall, mtbf, recovery, downtime) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(
    ("tau", "stall", "lag", "mtbf", "recovery", "downtime", "expected"),
    [
        (600, 3, 300, 7200, 300, 120, 0.86328),
        (300, 1, 200, 1080, 600, 0, 0.41203),
        (600, 0.6, 51, 11136, 480, 60, 0.92206),
    ],
)
def test_asynchronous_saves(tau, stall, lag, mtbf, recovery, downtime, expected):
    assert theory.efficiency(tau, stall, mtbf, recovery, downtime, lag) == pytest.approx(expected, abs=1e-5)


def test_two_tiers_to_first_order():
    efficiency = theory.two_tiers((120.0, 1800.0), (1.0, 30.0), (120.0, 600.0), 3 * HOUR, 0.8)
    assert efficiency == pytest.approx(0.9360, abs=5e-5)


def test_standbys_for_99_percent_of_windows():
    assert fleet.binomial_quantile(1024, 0.00234, 0.99) == 7
    assert fleet.binomial_quantile(1024, 0.0065, 0.99) == 13


def test_four_standbys_for_1024_hosts_hold_within_a_narrow_range_of_rates():
    assert [fleet.binomial_quantile(1024, share, 0.99) for share in (8.0e-4, 8.1e-4, 1.25e-3, 1.26e-3)] == [3, 4, 4, 5]


def test_hosts_out_of_a_large_fleet():
    assert fleet.poisson_quantile(2048 * 0.00379 / DAY * 2 * HOUR, 0.99) == 3
    assert fleet.poisson_quantile(2048 * 0.00379 / DAY * 40.4 * HOUR, 0.99) == 22
    assert fleet.poisson_quantile(0.0, 0.99) == 0


def test_waiting_for_a_host_is_erlangs_loss():
    assert fleet.waiting_share(2048, 0.00379 / DAY, DAY, 9) == pytest.approx(0.11100, abs=5e-5)
    assert fleet.waiting_share(128, 0.0065 / DAY, 2 * DAY, 3) == pytest.approx(0.06220, abs=5e-5)


def test_peers_in_pairs():
    assert fleet.peers_survive(16, 1, 2) == 1.0
    assert fleet.peers_survive(16, 2, 2) == pytest.approx(0.9333, abs=5e-5)
    assert fleet.peers_survive(16, 3, 2) == pytest.approx(0.8000, abs=5e-5)


def test_the_two_gpus_of_delta():
    node = 152 * 1.9 * HOUR
    assert fleet.node_availability(node, 2.2 * HOUR) == pytest.approx(0.9924, abs=1e-4)
    assert fleet.binomial_quantile(152, 1 - fleet.node_availability(node, 2.2 * HOUR), 0.999) == 6


def test_lemons_raise_the_failures_of_a_64_host_job_from_4_to_14_percent():
    assert fleet.lemon_failure(64, 6.38e-4, 40 / 3000, 217) == pytest.approx(0.14, abs=0.005)
    assert fleet.lemon_failure(64, 6.38e-4, 0.0, 217) == pytest.approx(0.04, abs=0.005)


def test_hosts_and_the_switches_above_them():
    interruptions, lost = fleet.domains([(2048, 3.0e-3, 1), (128, 1.7e-5, 16)])
    assert interruptions == pytest.approx(6.146, rel=1e-3)
    assert lost == pytest.approx(6.179, rel=1e-3)


def test_slow_hosts_are_certain_in_large_jobs():
    assert fleet.slow_host_probability(8, 0.005) == pytest.approx(0.0393, abs=1e-4)
    assert fleet.slow_host_probability(2048, 0.005) > 0.9999


def test_bytes_over_bandwidth():
    assert load_time(530e9 * 12, 20e9 / 8) == pytest.approx(42.4 * 60, rel=0.02)
    assert load_time(5.29e12, 2e12) == pytest.approx(2.65, rel=0.01)
    assert load_time(5.29e12, 7e12) == pytest.approx(0.756, rel=0.01)
    assert save_overhead(3 * HOUR, 40.0) == pytest.approx(0.0037, abs=5e-5)
    assert save_overhead(3 * HOUR, 40.0) * 90 * DAY == pytest.approx(8 * HOUR)
