"""A cause that needs no repair takes no host away: no spare is used, nobody waits, processes restart in place."""

from __future__ import annotations

from dataclasses import replace

import pytest
from small_runs import DAY, HOUR, at, host_failures, mean, one, restart, run_of, saves

from simulator.engine.run import simulate
from simulator.reliability import spares
from simulator.reliability.durations.fixed import Fixed
from simulator.reliability.failures.trace import Trace
from simulator.scenario import from_dict

NONE, A_DAY = Fixed(time=0.0), Fixed(time=DAY)
UNITS = {"gpu": 1024, "host": 128}


def test_hosts_that_need_repair_are_waited_for():
    found = one(run_of(DAY, at(HOUR, repair=A_DAY), spares=0))
    assert found.parts["wait"] == pytest.approx(DAY)


@pytest.mark.parametrize("usual", [None, A_DAY])
def test_a_cause_that_needs_no_repair_waits_for_nothing_and_restarts_in_place(usual: Fixed | None):
    policy = restart(detect=60.0, restart=600.0, in_place=Fixed(time=30.0), repair=usual)
    found = one(run_of(DAY, at(HOUR, repair=NONE), spares=0, recovery=policy))
    assert found.parts["wait"] == 0
    assert found.parts["restart"] == pytest.approx(30.0)


def test_where_no_repair_takes_time_no_cause_takes_a_host():
    found = one(
        run_of(DAY, at(HOUR), spares=0, recovery=restart(restart=600.0, in_place=Fixed(time=30.0), repair=NONE))
    )
    assert (found.parts["wait"], found.parts["restart"]) == (0, pytest.approx(30.0))


def test_needing_no_repair_is_taking_no_hosts():
    """The same run, moment by moment, as one whose cause says that it takes none."""
    causes = host_failures(200 * HOUR)
    policy = restart(detect=60.0, restart=600.0, repair=A_DAY)
    none, named = (
        simulate(run_of(30 * DAY, tuple(replace(one, **field) for one in causes), spares=1, recovery=policy), 3, 5)
        for field in ({"repair": NONE}, {"hosts": 0})
    )
    assert none == named


def test_failures_are_as_many_as_their_rate_says_and_none_costs_a_spare():
    run = run_of(
        30 * DAY,
        tuple(replace(one, repair=NONE) for one in host_failures(2000 * HOUR)),
        spares=0,
        checkpoint=saves(60.0, 0.0),
    )
    assert mean(found.unexpected for found in simulate(run, 1, 60)) == pytest.approx(128 * 30 * 24 / 2000, rel=0.05)
    assert spares.load(run.failures, replace(run.recovery, repair=A_DAY), {**UNITS, "job": 1}, {}) == 0


def test_a_log_that_says_a_host_was_back_at_once_takes_none():
    log = "time,host,class,downtime\n3600,1,gpu,0\n"
    policy = restart(repair=A_DAY)
    found = one(run_of(DAY, (Trace(unit="host", log=log, length=40 * DAY),), spares=0, recovery=policy))
    assert (found.unexpected, found.parts["wait"]) == (1, 0)


def test_of_all_causes_of_a_research_cluster_those_of_its_machines_take_hosts():
    """Spares are asked for by 6.50 failures per 1,000 node-days, not by 22.3 (arXiv 2410.21680)."""
    scenario = from_dict(
        {
            "version": "1",
            "name": "rsc",
            "cluster": {"host": "dgx-a100", "hosts": "1000", "spares": "20"},
            "training": {"duration": "10d", "step_time": "1s"},
            "failures": "rsc_all_causes",
            "recovery": {"repair": "24h"},
        }
    )
    away = spares.load(scenario.failures, scenario.recovery, {"gpu": 8000, "host": 1000, "job": 1}, {})
    assert away == pytest.approx(6.5, rel=0.002)
