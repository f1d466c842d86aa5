"""Deadlines and budgets: missed by the luck of failures and by the error of the step, together and apart."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_runs import DAY, HOUR, job_failures, restart, saves

from simulator.engine.run import RunInput
from simulator.engine.run import simulate as run
from simulator.outcome.campaign import stretches
from simulator.outcome.intervals import step_error
from simulator.outcome.step_error import SURE, Reason, StepError
from simulator.outcome.stretch import Stretch
from simulator.outcome.targets import missed
from simulator.reliability.fleet import Failures, Stop
from simulator.scenario import from_dict
from simulator.scenario.targets import Targets
from simulator.simulation import simulate

EVEN = StepError(1.0, (Reason("sources differ", 0.1), Reason("no such GPU", 0.05)))
SKEWED = StepError(1.06, (Reason("sources differ", 0.12),))
RUN = {
    "model": {"layers": 4, "hidden": 4096, "heads": 32, "vocabulary": 32000},
    "cluster": {"host": "dgx-a100", "hosts": 2},
    "stack": "megatron-2022",
    "training": {"steps": 100_000, "sequence_length": 2048, "global_batch": 16, "microbatch": 1},
    "runs": 20,
}
ratios = st.floats(0.3, 3.0)


def late(deadline: float, runs: list[Stretch], error: StepError) -> float:
    return missed(Targets(deadline=deadline), runs, error, 0.0)["p_late"] or 0.0


@given(ratios)
def test_what_is_symmetrical_about_the_prediction_is_slower_as_often_as_faster(ratio):
    assert EVEN.beyond(ratio) == pytest.approx(1 - EVEN.beyond(1 / ratio), abs=1e-12)


@given(ratios, ratios)
def test_a_longer_time_is_never_more_likely(one, other):
    assert SKEWED.beyond(max(one, other)) <= SKEWED.beyond(min(one, other))


@given(st.floats(10, 300), st.floats(10, 300))
def test_without_failures_the_chance_is_the_tail_of_the_error(deadline, wall):
    assert late(deadline, [Stretch(wall)], SKEWED) == SKEWED.beyond(deadline / wall)


@given(st.floats(50, 150))
def test_what_does_not_grow_leaves_the_rest_of_the_deadline_to_what_does(deadline):
    expected = SKEWED.beyond((deadline - 40) / 60)
    assert late(deadline, [Stretch(60.0, 40.0)], SKEWED) == expected


@given(st.lists(st.floats(50, 200), min_size=1, max_size=20), st.floats(50, 200))
def test_the_chance_is_the_mean_over_the_runs(walls, deadline):
    runs = [Stretch(wall) for wall in walls]
    assert late(deadline, runs, SKEWED) == pytest.approx(np.mean([SKEWED.beyond(deadline / wall) for wall in walls]))
    assert late(deadline, runs, SURE) == pytest.approx(np.mean([wall > deadline for wall in walls]))


@given(st.floats(50, 200), st.floats(50, 200), st.floats(0, 50))
def test_more_time_never_makes_it_later_and_more_work_never_earlier(deadline, wall, more):
    assert late(deadline + more, [Stretch(wall)], SKEWED) <= late(deadline, [Stretch(wall)], SKEWED)
    assert late(deadline, [Stretch(wall + more)], SKEWED) >= late(deadline, [Stretch(wall)], SKEWED)
    assert late(deadline, [Stretch(wall, more)], SKEWED) >= late(deadline, [Stretch(wall)], SKEWED)


@given(st.floats(50, 200), st.floats(0.01, 100))
def test_money_that_runs_with_time_is_short_when_time_is(deadline, rate):
    found = missed(Targets(deadline=deadline, budget=deadline * rate), [Stretch(90.0), Stretch(110.0)], SKEWED, rate)
    assert found["p_over_budget"] == pytest.approx(found["p_late"], abs=1e-9)


def test_what_costs_nothing_is_never_too_dear():
    found = missed(Targets(budget=1.0), [Stretch(math.inf)], SKEWED, 0.0)
    assert (found["p_over_budget"], found["p_over_budget_by_failures"]) == (0.0, 0.0)
    assert found["p_late"] is None


def test_a_slower_step_stretches_a_run_as_a_simulation_of_it_says():
    """Each run simulated anew with a step drawn from the error is late as often as the mean over it says."""
    short = RunInput(
        work=30 * DAY,
        units={"gpu": 8, "host": 1},
        failures=Failures(causes=job_failures(2 * DAY), planned=(Stop(at=DAY, time=5 * HOUR),)),
        checkpoint=saves(4 * HOUR, 120.0),
        recovery=restart(60.0, HOUR),
        evaluate_every=DAY,
        evaluation=HOUR,
    )
    deadline, runs = 36 * DAY, 400
    drawn = np.exp(EVEN.sd_ln * np.random.default_rng(1).standard_t(5, runs))
    slower = [
        run(replace(short, work=f * short.work, evaluate_every=f * DAY), 1, 1, first=number)[0].wall_clock
        for number, f in enumerate(drawn)
    ]
    share = np.mean([wall > deadline for wall in slower])
    expected = late(deadline, list(stretches(short, run(short, 2, runs))), EVEN)
    assert 0.2 < expected < 0.5
    assert share == pytest.approx(expected, abs=3 * math.sqrt(expected * (1 - expected) / runs))


def test_evaluations_and_announced_stops_do_not_grow():
    quiet = RunInput(
        work=10 * DAY,
        units={"gpu": 8, "host": 1},
        failures=Failures(planned=(Stop(at=DAY, time=5 * HOUR),)),
        evaluate_every=DAY,
        evaluation=HOUR,
    )
    (found,) = stretches(quiet, run(quiet, 1, 1))
    evaluations = round(found.fixed / HOUR) - 5
    assert evaluations in (9, 10)
    assert found.growing == pytest.approx(10 * DAY)


def test_the_interval_of_a_step_is_cut_from_the_distribution_of_its_error():
    scenario = from_dict(RUN)
    parts = simulate(scenario).step.parts_s
    error = step_error(scenario, parts)
    assert error.beyond(error.low) == pytest.approx(0.9)
    assert error.beyond(error.high) == pytest.approx(0.1)


def test_a_result_without_failures_is_late_by_the_tail_of_its_step():
    ideal = simulate(from_dict(RUN)).run.wall_clock_s.mean
    scenario = from_dict(RUN | {"targets": {"deadline": f"{1.1 * ideal}s"}})
    found = simulate(scenario).targets
    assert found["p_late"] == pytest.approx(step_error(scenario, {}).beyond(1.1), rel=1e-6)
    assert found["p_late_by_failures"] == 0.0


def test_targets_move_nothing_else():
    plain, asked = (simulate(from_dict(RUN | more)) for more in ({}, {"targets": {"deadline": "1d", "budget": "$1k"}}))
    assert replace(asked, targets={}, scenario=plain.scenario) == plain


@pytest.mark.parametrize(
    "training",
    [{"steps": 100_000, "step_time": "1s"}, {"duration": "30d"}],
    ids=["a measured step", "a run of a given length"],
)
def test_only_failures_make_late_what_does_not_hang_on_the_predicted_step(training):
    said = {key: value for key, value in RUN["training"].items() if key != "steps"} | training
    failing = {"failures": [{"kind": "exponential", "unit": "job", "mtbf": "6h"}], "recovery": {"restart": "10min"}}
    wall = simulate(from_dict(RUN | failing | {"training": said})).run.wall_clock_s.p50
    found = simulate(from_dict(RUN | failing | {"training": said, "targets": {"deadline": f"{wall}s"}})).targets
    assert found["p_late"] == found["p_late_by_failures"] == pytest.approx(0.5)


def test_a_run_that_may_never_end_misses_every_target():
    """Its first runs end; a later one is given up, and with it the study."""
    hopeless = RUN | {
        "training": {"duration": "48h", "sequence_length": 2048, "global_batch": 16, "microbatch": 1},
        "failures": [{"kind": "exponential", "unit": "job", "mtbf": "8h"}],
        "recovery": {"restart": "30min"},
        "checkpoint": {"kind": "none"},
        "targets": {"deadline": "1000d", "budget": "$1G"},
        "runs": 60,
        "seed": 3,
    }
    found = simulate(from_dict(hopeless))
    assert not found.run.progress
    assert len(found.run.samples) > 1
    assert found.targets["p_late"] == found.targets["p_over_budget"] == 1.0


def test_a_run_that_never_ends_misses_every_target():
    hopeless = RUN | {
        "failures": [{"kind": "exponential", "unit": "job", "mtbf": "10min"}],
        "recovery": {"restart": "2h"},
        "checkpoint": {"kind": "none"},
        "targets": {"deadline": "1000d", "budget": "$1G"},
    }
    found = simulate(from_dict(hopeless))
    assert not found.run.progress
    assert found.targets["p_late"] == found.targets["p_late_by_failures"] == 1.0
    assert found.targets["p_over_budget"] == 1.0
