"""Slow hosts are borne until they have cost a replacement, which loses at most twice what knowing would."""

from __future__ import annotations

import pytest
from small_runs import DAY, HOUR, at, one, restart, run_of, saves

from simulator.engine.run import RunInput
from simulator.random import stream
from simulator.reliability.durations.fixed import Fixed
from simulator.reliability.stragglers.base import SlowHostPolicy
from simulator.reliability.stragglers.ignore import Ignore
from simulator.reliability.stragglers.replace import Replace

STALL, RESTART, SLOW = 20.0, 480.0, 1.25
COST = STALL + RESTART
RATE = 1 - 1 / SLOW
"""Lost a second of running beside a host that takes 1.25 times as long."""


def slowed(policy: SlowHostPolicy, *lasts: float, apart: float = 20 * DAY, **fields) -> RunInput:
    """Return a run with an episode of each length, far apart, that saves only when it must."""
    causes = tuple(
        cause
        for number, length in enumerate(lasts)
        for cause in at(HOUR + number * apart, effect="slow", slow=SLOW, lasts=Fixed(time=length))
    )
    work = (len(lasts) + 1) * apart
    recovery = restart(restart=RESTART, slow_hosts=policy, repair=Fixed(time=DAY))
    return run_of(work, causes, checkpoint=saves(2 * work, STALL), recovery=recovery, **fields)


def lost(run: RunInput) -> float:
    """Return the wall clock beyond the work and its last save."""
    return one(run).wall_clock - run.work - STALL


def test_an_episode_that_costs_less_than_a_replacement_is_borne():
    length = 0.9 * COST / RATE
    assert lost(slowed(Replace(), length)) == pytest.approx(length * RATE)
    assert lost(slowed(Ignore(), length)) == pytest.approx(length * RATE)


@pytest.mark.parametrize("patience", [0.0, 0.5, 1.0, 3.0])
def test_a_longer_one_is_ended_after_it_has_cost_so_many_replacements(patience: float):
    outcome = one(slowed(Replace(patience=patience), 10 * DAY))
    assert outcome.wall_clock == pytest.approx(2 * 20 * DAY + STALL + (patience + 1) * COST)
    assert outcome.parts["degraded"] == pytest.approx(patience * COST)
    assert outcome.parts["restart"] == pytest.approx(RESTART)
    assert outcome.parts["lost"] == 0.0
    assert outcome.replaced == 1
    assert outcome.unexpected == 0


@pytest.mark.parametrize("patience", [0.25, 1.0, 4.0])
def test_it_loses_at_most_what_is_proven_over_knowing_how_long_each_lasts(patience: float):
    policy = Replace(patience=patience)
    for number in range(20):
        lengths = (COST / RATE * stream(3, number).lognormal(0.0, 1.5, 12)).tolist()
        best = sum(min(length * RATE, COST) for length in lengths)
        found = lost(slowed(policy, *lengths))
        assert best * (1 - 1e-9) <= found <= policy.competitive * best * (1 + 1e-9)


def test_ski_rental_is_twice_as_bad_where_the_host_recovers_as_soon_as_it_is_replaced():
    length = COST / RATE * (1 + 1e-6)
    assert lost(slowed(Replace(), length)) == pytest.approx(2 * COST)


def test_of_two_slow_hosts_the_slower_counts_and_both_are_replaced():
    first = at(0.0, effect="slow", slow=1.25, lasts=Fixed(time=DAY))
    second = at(1000.0, effect="slow", slow=2.0, lasts=Fixed(time=DAY))
    recovery = restart(restart=RESTART, slow_hosts=Replace())
    run = run_of(DAY, first + second, checkpoint=saves(2 * DAY, STALL), recovery=recovery)
    outcome = one(run)
    assert outcome.replaced == 2
    assert outcome.parts["degraded"] == pytest.approx(COST)
    began = 1000 * 0.2
    assert outcome.wall_clock == pytest.approx(DAY + STALL + 2 * COST)
    assert began < COST


def test_without_a_spare_it_bears_on():
    assert one(slowed(Replace(), 10 * DAY, spares=0)).replaced == 0
    assert one(slowed(Replace(), 10 * DAY, spares=1)).replaced == 1


def test_it_replaces_them_when_a_spare_is_back():
    away = at(0.0, repair=Fixed(time=2 * DAY))
    slow = at(DAY, effect="slow", slow=SLOW, lasts=Fixed(time=10 * DAY))
    recovery = restart(slow_hosts=Replace(patience=0.0), repair=Fixed(time=DAY))
    run = run_of(20 * DAY, away + slow, checkpoint=saves(40 * DAY, STALL), recovery=recovery, spares=1)
    assert one(run).parts["degraded"] == pytest.approx(DAY * RATE)


def test_what_slows_no_host_cannot_be_replaced():
    rack = at(100.0, unit="rack", effect="slow", slow=SLOW, lasts=Fixed(time=10 * DAY))
    recovery = restart(restart=RESTART, slow_hosts=Replace())
    run = run_of(20 * DAY, rack, checkpoint=saves(DAY, STALL), recovery=recovery, hosts_of={"rack": 16})
    assert one(run).replaced == 0
