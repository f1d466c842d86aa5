"""Percentiles of days and dollars hold the step, rates, times and luck; luck alone is what it was."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.engine import run
from simulator.outcome.campaign import run_input, stretches
from simulator.outcome.cost import distribution
from simulator.outcome.everything import goodput, wall_clock
from simulator.outcome.results import Distribution, Result
from simulator.outcome.step_error import SURE, Reason, StepError, longer
from simulator.outcome.stretch import Stretch
from simulator.outcome.targets import missed
from simulator.outcome.unknown import Really, unknown
from simulator.reliability.unknowns import FLEETS, Unknowns
from simulator.scenario import Scenario, from_dict
from simulator.scenario.targets import Targets
from simulator.simulation import simulate, step_factor, useful_work

ERROR = StepError(1.05, (Reason("any", 0.15),))
HOST = {"base": "hgx-h100", "gpu": "h100-sxm-80gb"}
RUN: dict[str, Any] = {
    "model": {"layers": 4, "hidden": 8192, "heads": 64, "vocabulary": 32000},
    "cluster": {"host": HOST, "hosts": 64, "spares": 4},
    "stack": "nemo-2024",
    "training": {"steps": 2_000_000, "sequence_length": 4096, "global_batch": 512, "microbatch": 1},
    "failures": "llama3",
    "recovery": {"repair": "12h"},
    "runs": 40,
    "seed": 3,
}


@pytest.fixture(scope="module")
def result() -> Result:
    return simulate(from_dict(RUN))


def ends(spread: Distribution) -> tuple[float, float]:
    return spread.p10, spread.p90


def test_luck_alone_is_what_runs_at_the_rates_given_come_to(result: Result) -> None:
    scenario = from_dict(RUN)
    seconds = result.step.time_s
    whole = run_input(scenario, useful_work(scenario, seconds), seconds, step_factor(scenario))
    outcomes = run.simulate(whole, scenario.seed, scenario.runs)
    assert result.run.luck is not None
    assert result.cost.luck is not None
    assert result.run.luck.wall_clock_s == distribution([outcome.wall_clock for outcome in outcomes])
    assert result.run.luck.goodput == distribution([outcome.goodput for outcome in outcomes])
    rate = result.cost.dollars.mean / result.run.wall_clock_s.mean
    assert result.cost.luck.dollars.p90 == pytest.approx(rate * result.run.luck.wall_clock_s.p90)


def test_every_doubt_is_wider_than_luck_and_keeps_the_mean(result: Result) -> None:
    luck = result.run.luck
    assert luck is not None
    assert result.run.wall_clock_s.p90 / result.run.wall_clock_s.p10 > 1.15
    for every, alone in ((result.run.wall_clock_s, luck.wall_clock_s), (result.run.goodput, luck.goodput)):
        assert ends(every)[0] < ends(alone)[0] < ends(alone)[1] < ends(every)[1]
        assert every.mean == alone.mean
    assert sum(result.run.parts_s.values()) == pytest.approx(result.run.wall_clock_s.mean)


def test_the_chance_to_miss_a_percentile_is_its_own(result: Result) -> None:
    wall, dollars = result.run.wall_clock_s, result.cost.dollars
    for share, deadline, budget in (
        (0.9, wall.p10, dollars.p10),
        (0.5, wall.p50, dollars.p50),
        (0.1, wall.p90, dollars.p90),
    ):
        found = simulate(from_dict(RUN | {"targets": {"deadline": f"{deadline!r}s", "budget": f"${budget!r}"}})).targets
        assert found["p_late"] == pytest.approx(share, abs=1e-6)
        assert found["p_over_budget"] == pytest.approx(share, abs=1e-6)


def test_without_failures_the_wall_clock_is_the_error_of_the_step() -> None:
    plain = {name: value for name, value in RUN.items() if name not in ("failures", "recovery")}
    found = simulate(from_dict(plain | {"runs": 1}))
    step, wall = found.step, found.run.wall_clock_s
    assert wall.p10 / wall.mean == pytest.approx(step.time_low_s / step.time_s, rel=1e-6)
    assert wall.p90 / wall.mean == pytest.approx(step.time_high_s / step.time_s, rel=1e-6)


def test_a_measured_step_and_rates_of_ones_own_leave_luck_alone() -> None:
    mine = [{"kind": "exponential", "unit": "host", "mtbf": "2000h"}]
    recovery = {"detect": "60s", "diagnose": "5min", "restart": "8min", "repair": "12h"}
    checkpoint = {"kind": "fixed", "interval": "30min", "stall": "5s", "bytes": "1TB"}
    training = {"steps": 2_000_000, "sequence_length": 4096, "global_batch": 512, "step_time": "1s"}
    said = {"failures": mine, "recovery": recovery, "checkpoint": checkpoint, "training": training}
    found = simulate(from_dict(RUN | said))
    assert found.run.luck is not None
    assert found.run.wall_clock_s == found.run.luck.wall_clock_s


@given(st.floats(0.2, 5), st.floats(1, 100), st.floats(0, 50))
def test_chances_of_many_runs_are_those_of_each(ratio: float, growing: float, fixed: float) -> None:
    limit = ratio * growing + fixed
    found = longer(ERROR, np.array([limit - fixed]), np.array([growing]))
    assert found[0] == pytest.approx(ERROR.beyond((limit - fixed) / growing), abs=1e-12)


def test_what_never_ends_exceeds_everything_and_what_does_not_grow_nothing_more() -> None:
    left, growing = np.array([5.0, 5.0, -1.0, -1.0]), np.array([math.inf, 0.0, 0.0, 2.0])
    assert longer(ERROR, left, growing).tolist() == [1.0, 0.0, 1.0, 1.0]


def test_percentiles_are_those_of_draws_from_the_model() -> None:
    runs = [Stretch(50.0 + n, 5.0) for n in range(20)]
    trains = [45.0] * 20
    draws = ERROR.median * np.exp(ERROR.sd_ln * np.random.default_rng(2).standard_t(5, 20_000))
    walls = np.array([run.growing * f + run.fixed for f in draws[:4000] for run in runs])
    shares = np.array([45.0 * f / (run.growing * f + run.fixed) for f in draws[:4000] for run in runs])
    wall, good = wall_clock(1.0, runs, ERROR), goodput(1.0, trains, runs, ERROR)
    for share, name in ((10, "p10"), (50, "p50"), (90, "p90")):
        assert getattr(wall, name) == pytest.approx(np.percentile(walls, share), rel=0.02)
        assert getattr(good, name) == pytest.approx(np.percentile(shares, share), rel=0.02)
    late = missed(Targets(deadline=wall.p90), runs, ERROR, 0.0)["p_late"]
    assert late == pytest.approx(0.1, abs=1e-9)


def test_runs_that_never_end_lie_beyond_the_percentiles_that_they_are_too_few_for() -> None:
    runs = [Stretch(50.0)] * 19 + [Stretch(math.inf)]
    found = wall_clock(1.0, runs, ERROR)
    assert math.isfinite(found.p90)
    assert wall_clock(1.0, [*runs[-3:], Stretch(math.inf)], SURE).p90 == math.inf
    assert wall_clock(1.0, [Stretch(math.inf)], ERROR).p10 == math.inf


def _rates(scenario: Scenario, number: int) -> dict[str, float]:
    given = scenario.failures
    drawn = unknown(scenario).failures(given, number)
    units = {"gpu": 512, "host": 64, "nic": 512, "link": 600, "switch": 40, "job": 1}
    return {
        a.label: b.rate(units[a.unit]) / a.rate(units[a.unit]) for a, b in zip(given.causes, drawn.causes, strict=True)
    }


def test_rates_spread_as_fleets_do_and_rare_causes_more() -> None:
    scenario = from_dict(RUN)
    drawn = [_rates(scenario, number) for number in range(400)]
    common = np.log([one["faulty GPU"] for one in drawn])
    rare = np.log([one["CPU"] / one["faulty GPU"] for one in drawn])
    assert np.std(common) == pytest.approx(FLEETS, rel=0.12)
    assert np.median(common) == pytest.approx(0.0, abs=0.1)
    assert np.std(rare) > 0.4
    assert np.std(np.log([one["HBM3 memory"] / one["faulty GPU"] for one in drawn])) < 0.2


def test_policies_meet_the_same_rates_and_more_runs_the_same_first_ones() -> None:
    often = from_dict(RUN | {"checkpoint": {"kind": "fixed", "interval": "10min"}, "runs": 100})
    assert _rates(from_dict(RUN), 7) == _rates(often, 7)
    assert _rates(from_dict(RUN | {"seed": 4}), 7) != _rates(from_dict(RUN), 7)


def test_times_that_are_given_stay() -> None:
    given = from_dict(RUN | {"recovery": {"detect": "60s", "diagnose": "0s", "restart": "8min", "repair": "12h"}})
    assert unknown(given).recovered(given.recovery, 1) == given.recovery
    left = from_dict(RUN)
    assert unknown(left).recovered(left.recovery, 1) != left.recovery
    assert unknown(left).recovered(left.recovery, 1).repair == left.recovery.repair


def test_saves_come_as_planned_at_whatever_they_cost() -> None:
    scenario = from_dict(RUN)
    whole = run_input(scenario, 1e6, 1.0)
    real = Really(Unknowns(1, saves=True))(whole, 5)
    planned, costs = run.plan(whole), run.plan(real)
    found = run.planned(planned, costs)
    assert found.interval == planned.interval != costs.interval
    assert found.tiers[0].stall == costs.tiers[0].stall != planned.tiers[0].stall


def test_a_run_that_meets_hopeless_rates_is_one_of_many() -> None:
    scenario = from_dict(RUN)
    whole = replace(run_input(scenario, 1e6, 1.0), step_factor=None)
    found = run.simulate(whole, 1, 6, vary=_Hopeless())
    assert [outcome.progress for outcome in found] == [True, True, False, True, True, False]
    assert [math.isinf(one.growing) for one in stretches(whole, found)] == [False, False, True, False, False, True]


class _Hopeless:
    """Every third run fails faster than it recovers."""

    def __call__(self, planned: run.RunInput, number: int) -> run.RunInput:
        failures = replace(planned.failures, scale=1e5 if number % 3 == 2 else 1.0)
        return replace(planned, failures=failures)
