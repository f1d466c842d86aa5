"""Going on with fewer replicas."""

from __future__ import annotations

from math import fsum, inf
from typing import Any

import pytest
from small_runs import DAY, HOUR, at, efficiency, host_failures, one, restart, run_of, saves

from simulator.engine.run import simulate
from simulator.errors import ScenarioError
from simulator.reliability.durations.fixed import Fixed
from simulator.reliability.durations.lognormal import LognormalDuration
from simulator.reliability.recovery.elastic import Elastic


def elastic(replicas: int = 4, stall: float = 180.0, replace: float = 420.0, **fields: Any) -> Elastic:
    times = {"detect": Fixed(time=60.0), "restart": Fixed(time=300.0)}
    return Elastic(replicas=replicas, stall=Fixed(time=stall), replace=Fixed(time=replace), **times | fields)


def test_98_304_gpus_in_12_replicas_with_a_failure_every_18_minutes():
    run = run_of(30 * DAY, at(every=1080.0), hosts=12288, exposure="wall", recovery=elastic(12))
    assert efficiency(simulate(run, 1, 1)) == pytest.approx(0.8009, abs=0.001)


def test_a_lost_replica_costs_a_stall_and_its_share_while_it_is_away():
    outcome = one(run_of(10_000.0, at(1000.0), recovery=elastic(4)))
    assert outcome.parts == pytest.approx(
        {**dict.fromkeys(outcome.parts, 0.0), "train": 1e4, "restart": 180, "degraded": 105}
    )


def test_coming_back_stalls_everybody():
    outcome = one(run_of(10_000.0, at(1000.0), recovery=elastic(4, rejoin=Fixed(time=100.0))))
    assert outcome.parts["restart"] == 280


def test_two_replicas_lost_at_once_are_missed_twice():
    outcome = one(run_of(10_000.0, at(1000.0, hosts=40), recovery=elastic(4)))
    assert outcome.parts["degraded"] == pytest.approx(420 * 0.5)


def test_software_restarts_everybody_from_a_save():
    run = run_of(10_000.0, at(1000.0, unit="job"), recovery=elastic(4), checkpoint=saves(600.0, 0.0))
    parts = one(run).parts
    assert (parts["lost"], parts["detect"], parts["restart"]) == pytest.approx((400, 60, 300))


def test_too_few_replicas_restart_everybody():
    run = run_of(10_000.0, at(1000.0), recovery=elastic(4, minimum=4 - 1), checkpoint=saves(600.0, 0.0))
    assert one(run).parts["lost"] == 0
    run = run_of(10_000.0, at(1000.0, 1100.0), recovery=elastic(4, minimum=3), checkpoint=saves(600.0, 0.0))
    assert one(run).parts["restart"] == 180 + 300


def test_a_replica_without_a_host_waits_for_a_repair():
    recovery = elastic(4, replace=420.0, repair=Fixed(time=HOUR))
    outcome = one(run_of(10_000.0, at(1000.0), recovery=recovery, spares=0))
    # Away from the end of the stall until the host is mended and brought up.
    assert outcome.parts["degraded"] == pytest.approx((HOUR - 180 + 420) / 4)


def test_a_replica_that_is_hit_again_begins_to_come_back_anew():
    """One of two is missing from 1,000 s on; the failure at 1,200 s strikes it in half of the runs, or the last one."""
    run = run_of(10_000.0, at(1000.0, 1200.0), recovery=elastic(2, stall=0.0))
    degraded = [round(outcome.parts["degraded"]) for outcome in simulate(run, 1, 60)]
    assert set(degraded) == {(200 + 420) / 2, 200 / 2}
    assert degraded.count(310) == pytest.approx(30, abs=3 * 15**0.5)


def test_a_replica_that_loses_a_second_host_waits_for_both():
    recovery = elastic(2, stall=0.0, replace=0.0, repair=Fixed(time=HOUR))
    run = run_of(20_000.0, at(1000.0, 2000.0), exposure="wall", recovery=recovery, spares=0)
    for outcome in simulate(run, 1, 20):
        if not outcome.parts["wait"]:
            assert outcome.parts["degraded"] == pytest.approx((HOUR + 1000.0) / 2)


def test_being_elastic_may_cost_something_all_the_time():
    assert one(run_of(9000.0, recovery=elastic(4, overhead=0.1))).wall_clock == pytest.approx(10_000.0)


def test_elastic_beats_restarting_where_failures_are_dense():
    causes = host_failures(30 * DAY)
    base = {"hosts": 2048, "checkpoint": saves(300.0, 3.0)}
    shrinking = run_of(20 * DAY, causes, recovery=elastic(16), **base)
    restarting = run_of(20 * DAY, causes, recovery=restart(60.0, 480.0), **base)
    assert efficiency(simulate(shrinking, 1, 5)) > efficiency(simulate(restarting, 1, 5)) + 0.05


@pytest.mark.parametrize("exposure", ["uptime", "wall"])
@pytest.mark.parametrize("spares", [None, 0, 12])
def test_everything_at_once_tiles_the_wall_clock(exposure: str, spares: int | None):
    recovery = elastic(
        8, minimum=4, rejoin=Fixed(time=30.0), repair=LognormalDuration(mean=6 * HOUR, cv=2.0), overhead=0.02
    )
    causes = (*host_failures(10 * DAY), *at(every=11 * HOUR, unit="job"), *at(every=17 * HOUR, unit="switch"))
    run = run_of(
        10 * DAY,
        causes,
        exposure=exposure,
        recovery=recovery,
        spares=spares,
        checkpoint=saves(600.0, 5.0),
        hosts_of={"switch": 16},
    )
    for outcome in simulate(run, 2, 10):
        assert fsum(outcome.parts.values()) == pytest.approx(outcome.wall_clock, rel=1e-12)
        assert min(outcome.parts.values()) >= -1e-9
        assert outcome.parts["train"] == 10 * DAY


def test_a_million_gpus_survive_by_shrinking():
    causes = host_failures(125_000 * 200.0)
    run = run_of(inf, causes, hosts=125_000, recovery=elastic(128, stall=60.0), until=DAY)
    assert one(run).goodput > 0.7


def test_the_smallest_number_of_replicas_is_checked():
    with pytest.raises(ScenarioError, match="minimum < replicas"):
        simulate(run_of(100.0, recovery=elastic(1)), 1, 1)
