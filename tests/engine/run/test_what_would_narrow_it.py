"""What makes days unsure: shares sum to 1, what is switched off has none, and measuring never widens a range."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.outcome import everything
from simulator.outcome.levels import Doubt, Level, scale
from simulator.outcome.narrowing import FAILURES, GEMM, LUCK, STEPS, STORAGE, Known, ranked
from simulator.outcome.results import Result
from simulator.outcome.step_error import SURE, Reason, StepError
from simulator.outcome.stretch import Stretch
from simulator.scenario import from_dict
from simulator.simulation import simulate

RUN = {
    "model": "llama-3.1-8b",
    "cluster": {"host": "hgx-h100", "hosts": 16},
    "stack": "megatron-core-2024",
    "training": {"tokens": "200G", "sequence_length": 4096, "global_batch": 512, "microbatch": 1},
    "parallelism": {"tensor": 2, "pipeline": 2},
    "failures": {"preset": "llama3", "scale": 200},
    "runs": 60,
}
SOFTWARE = Doubt("software", "software", Level(0.13, 0.05))
VENDOR = Doubt("vendor", "vendor", Level(0.3, 0.0))


def result(**changes: object) -> Result:
    return simulate(from_dict(RUN | changes))


def known(*doubts: Doubt, drawn: dict[str, list[float]] | None = None, lost: float = 0.0, luck: float = 0.0) -> Known:
    """Return runs of 100 seconds, and the time that they lose in proportion to what they drew."""
    drawn = drawn or {}
    chance = np.random.default_rng(1).standard_normal(200)
    runs = tuple(
        Stretch(float(100 * np.exp(luck * chance[run] + lost * sum(factors[run] for factors in drawn.values()))))
        for run in range(200)
    )
    reasons = tuple(Reason(one.what, scale() * one.variance**0.5) for one in doubts)
    return Known(runs, StepError(1.0, reasons) if reasons else SURE, doubts, 0.75, drawn, 10.0)


def factors(seed: int) -> list[float]:
    return [float(one) for one in np.exp(0.5 * np.random.default_rng(seed).standard_normal(200))]


@pytest.fixture(scope="module")
def whole() -> Result:
    return result()


def test_shares_are_of_one_whole_and_the_largest_comes_first(whole):
    shares = [one.share_of_variance for one in whole.uncertainty]
    assert all(0 <= share <= 1 for share in shares)
    assert sum(shares) == pytest.approx(1)
    assert shares == sorted(shares, reverse=True)
    assert {one.measurement for one in whole.uncertainty} >= {STEPS, FAILURES, None}


def test_a_measurement_never_widens_and_the_width_is_that_of_the_run(whole):
    now = whole.run.wall_clock_s.p90 - whole.run.wall_clock_s.p10
    for one in whole.uncertainty:
        assert one.p90_minus_p10_s == pytest.approx(now)
        assert one.p90_minus_p10_s_after <= one.p90_minus_p10_s
        assert (one.p90_minus_p10_s_after < one.p90_minus_p10_s) == (one.measurement is not None)
        dollars = whole.cost.dollars.p90 - whole.cost.dollars.p10
        assert one.p90_minus_p10_dollars == pytest.approx(dollars, rel=1e-6)


def test_what_is_switched_off_has_no_share():
    measured = result(training=RUN["training"] | {"step_time": "4s"})
    assert {one.measurement for one in measured.uncertainty} <= {FAILURES, STORAGE, None}
    restarts = result(recovery={"detect": "1min", "diagnose": "1min", "restart": "5min"})
    assert "times of restarts" not in {one.source for one in restarts.uncertainty}
    calm = result(failures={})
    assert {one.measurement for one in calm.uncertainty} == {STEPS}


def test_a_sure_run_has_nothing_to_narrow():
    assert ranked(known(), 1.0) == ()
    assert result(failures={}, training=RUN["training"] | {"step_time": "4s"}).uncertainty == ()


@settings(max_examples=20, deadline=None)
@given(st.floats(0.01, 0.3), st.floats(0.01, 0.3))
def test_levels_of_the_step_share_by_their_squares(one, other):
    found = ranked(known(Doubt("run", "a", Level(one, 0.0)), Doubt("software", "b", Level(0.0, other))), 1.0)
    shares = {each.source: each.share_of_variance for each in found}
    assert shares["a"] == pytest.approx(one**2 / (one**2 + other**2))


def test_ten_steps_leave_the_own_part_and_a_gemm_table_what_is_not_kernels():
    (found,) = ranked(known(SOFTWARE), 1.0)
    left = everything.wall_clock(0.0, [Stretch(100.0)], StepError(1.0, (Reason("own", scale() * 0.05),)))
    assert found.p90_minus_p10_s_after == pytest.approx(left.p90 - left.p10)
    (found,) = ranked(known(VENDOR), 1.0)
    left = everything.wall_clock(0.0, [Stretch(100.0)], StepError(1.0, (Reason("own", scale() * 0.25 * 0.3),)))
    assert found.measurement == GEMM
    assert found.p90_minus_p10_s_after == pytest.approx(left.p90 - left.p10)


def test_what_runs_drew_explains_what_they_lost():
    drawn = {"rates": factors(2)}
    (rates,) = [one for one in ranked(known(drawn=drawn, lost=0.05), 1.0) if one.measurement == FAILURES]
    assert rates.share_of_variance == pytest.approx(1)
    both = {one.source: one for one in ranked(known(drawn=drawn, lost=0.05, luck=0.05), 1.0)}
    lost = float(np.var(0.05 * np.array(drawn["rates"])))
    assert both["failure rates"].share_of_variance == pytest.approx(lost / (lost + 0.05**2), abs=0.12)
    assert both[LUCK].p90_minus_p10_s_after == both[LUCK].p90_minus_p10_s


def test_more_failures_in_a_log_say_more_of_their_rate():
    few = known(drawn={"rates": factors(2)}, lost=0.05)
    widths = [ranked(replace(few, failures=n), 1.0)[0].p90_minus_p10_s_after for n in (0.0, 1.0, 10.0, 100.0)]
    assert widths == sorted(widths, reverse=True)
    assert widths[0] == pytest.approx(ranked(few, 1.0)[0].p90_minus_p10_s)
