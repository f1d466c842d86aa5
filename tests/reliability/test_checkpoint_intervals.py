"""Intervals against the tables that published them."""

from __future__ import annotations

import math

import pytest

from simulator.errors import ScenarioError
from simulator.kinds import kinds
from simulator.reliability import theory
from simulator.reliability.advice import interval_advice
from simulator.reliability.checkpointing.adaptive import Adaptive
from simulator.reliability.checkpointing.availability import Availability
from simulator.reliability.checkpointing.base import CheckpointPolicy
from simulator.reliability.checkpointing.cost import SaveCost, as_said, save_cost
from simulator.reliability.checkpointing.fixed import FixedInterval
from simulator.reliability.checkpointing.never import Never
from simulator.reliability.checkpointing.plan import save_plan
from simulator.reliability.checkpointing.tier import Tier
from simulator.reliability.checkpointing.young import Young
from simulator.reliability.checkpointing.young_daly import YoungDaly

MINUTE = 60.0
POLICIES = [kind for kind in kinds("simulator.reliability.checkpointing", CheckpointPolicy).values() if kind.saves]


@pytest.mark.parametrize(("mtbf", "printed", "exact"), [(1440, 117, 116.690), (360, 57, 56.714), (15, 9.1, 9.167)])
def test_dalys_table(mtbf: float, printed: float, exact: float):
    assert round(theory.daly(5.0, mtbf), 1 if printed < 10 else 0) == printed
    assert theory.optimal_interval(5.0, mtbf) == pytest.approx(exact, rel=1e-4)


@pytest.mark.parametrize(
    ("mtbf", "period"),
    [
        (3849609, 68240),
        (1924805, 48320),
        (962402, 34189),
        (240601, 17194),
        (120300, 12218),
        (30075, 6214),
        (7519, 3218),
    ],
)
def test_the_table_of_exponential_optima_of_aupy(mtbf: float, period: float):
    assert theory.optimal_interval(600.0, mtbf) + 600 == pytest.approx(period, rel=0.002)


@pytest.mark.parametrize("stall", [1e-6, 0.6, 10.0, 300.0, 7200.0, 1e6])
def test_no_interval_beats_the_optimum(stall: float):
    best = theory.optimal_interval(stall, 7200.0)
    at = [theory.efficiency(best * factor, stall, 7200.0, 300.0, 60.0) for factor in (0.99, 1.0, 1.01)]
    assert at[1] == max(at)


def test_young_is_the_limit_of_a_cheap_save():
    assert theory.optimal_interval(1e-3, 7200.0) == pytest.approx(theory.young(1e-3, 7200.0), rel=1e-3)


def test_daly_gives_up_where_a_save_costs_twice_the_mtbf():
    assert theory.daly(20.0, 10.0) == 10.0


def test_the_linear_model_of_availability():
    interval = theory.availability_interval(60.0, 7200.0, 420.0)
    assert interval + 60 == pytest.approx(1018.1, abs=0.05)
    assert theory.availability(interval, 60.0, 7200.0, 420.0) == pytest.approx(0.8335, abs=5e-5)
    assert theory.efficiency(interval, 60.0, 7200.0, 420.0) == pytest.approx(0.8265, abs=5e-5)


def test_a_published_rule_of_thumb_of_24_steps():
    # changlan.org: MTBF 6,000 s, recovery 600 s, a save of 10 s, steps of 15 s.
    interval = save_plan(Availability(stall=10.0), mtbf=6000.0, recovery=600.0).interval
    assert interval / 15 == pytest.approx(24, abs=1)


@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.kind)
def test_every_policy_has_a_positive_interval(policy: type[CheckpointPolicy]):
    given = {"interval": 600.0} if policy is FixedInterval else {}
    for mtbf in (1.0, 3600.0, 1e7):
        plan = save_plan(policy(stall=10.0, **given), mtbf=mtbf, recovery=540.0)
        assert 0 < plan.interval < math.inf


def test_without_failures_only_a_given_interval_saves():
    assert save_plan(YoungDaly(stall=10.0), mtbf=math.inf, recovery=0.0).interval == math.inf
    assert save_plan(FixedInterval(stall=10.0, interval=600.0), mtbf=math.inf, recovery=0.0).interval == 600.0
    assert save_plan(Never(), mtbf=3600.0, recovery=0.0).tiers == ()


def test_a_save_waits_until_the_one_before_is_persisted():
    assert save_plan(Young(stall=0.5, mode="async", persist=300.0), mtbf=3600.0, recovery=0.0).interval == 300.0
    with pytest.raises(ScenarioError, match="longer than the interval"):
        save_plan(FixedInterval(interval=60.0, mode="async", persist=300.0), mtbf=3600.0, recovery=0.0)


def test_the_adaptive_interval_starts_at_the_guess_and_ends_at_the_rate():
    policy = Adaptive(stall=10.0, guess=3600.0)
    assert policy.every(stall=10.0, mtbf=1e9, recovery=0.0) == theory.daly(10.0, 3600.0)
    late = policy.revised(stall=10.0, mtbf=1e9, exposed=1e8, interruptions=10_000)
    assert late == pytest.approx(theory.daly(10.0, 10_000.0), rel=0.01)


def test_a_policy_told_of_tiers_rounds_each_to_a_multiple_of_the_one_before():
    tiers = (Tier(interval=120.0, stall=1.0), Tier(interval=1790.0, stall=30.0))
    plan = save_plan(FixedInterval(interval=1.0, tiers=tiers), mtbf=3600.0, recovery=0.0)
    assert plan.every == (1, 15)
    assert plan.tiers[1].interval == 1800.0


def test_a_blocking_save_takes_as_long_as_storage():
    # BLOOM-176B: 2.3 TB in 40 s.
    cost = save_cost(YoungDaly(), size=2.3e12, copied=0.24, write=57.5e9, read=57.5e9)
    assert cost.stall == pytest.approx(40.0)


def test_an_asynchronous_save_stalls_for_the_copy_and_persists_over_storage():
    cost = save_cost(YoungDaly(mode="async"), size=5.29e12, copied=0.59, write=1e11, read=1e11)
    assert (cost.stall, cost.persist) == pytest.approx((0.59, 52.9))


def test_hosts_can_be_slower_than_storage():
    given = {"size": 8e12, "copied": 0.04, "write": 1e12, "read": 1e12}
    cost = save_cost(YoungDaly(), **given, host_network=1e10, hosts=10)
    assert cost.stall == pytest.approx(80.0)


def test_a_slowdown_while_a_save_is_persisted_is_training_time_lost():
    given = {"size": 5.29e12, "copied": 0.59, "write": 1e11, "read": 1e11}
    cost = save_cost(YoungDaly(mode="async", slowdown=0.05), **given)
    assert (cost.stall, cost.persist) == pytest.approx((0.59 + 0.05 * 52.9, 52.9))
    assert save_cost(YoungDaly(slowdown=0.05), **given).stall == pytest.approx(52.9)


def test_what_a_policy_says_is_what_a_save_costs_and_what_it_leaves_out_costs_nothing():
    said = FixedInterval(interval=600.0, mode="async", stall=2.0, persist=60.0, slowdown=0.1, load=30.0, bytes=1e12)
    assert as_said(said) == SaveCost(stall=8.0, persist=60.0, load=30.0, bytes=1e12)
    assert as_said(FixedInterval(interval=600.0)) == SaveCost()


def test_half_and_double_the_best_interval_cost_little():
    advice = interval_advice(10.0, 11136.0, recovery=480.0, downtime=60.0)
    assert advice.best == pytest.approx(465, abs=1)
    assert 0 < advice.loss_at_half < 0.015
    assert 0 < advice.loss_at_double < 0.015
