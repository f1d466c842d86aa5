"""A posterior is the prior without evidence and the mean of the log with much of it."""

from __future__ import annotations

from dataclasses import replace
from math import exp, log, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.measured.disturbances import disturbances
from simulator.measured.series import Series, Step
from simulator.outcome.step_error import SURE, Reason, StepError, quantile
from simulator.reliability.unknowns import FLEETS, Unknowns
from simulator.studies.forecast.alarms import of_failures, of_step
from simulator.studies.forecast.evidence import Evidence
from simulator.studies.forecast.rates import Corrected, Factor, corrected, seen
from simulator.studies.forecast.step import forecast_step, measured_level
from tests.forecast.drawn import DAY, RUN

PRIOR = StepError(1.1, (Reason("any run", 0.15),))


def steps_of(times, each=1):
    return tuple(Step(each * (i + 1), float(time), None, each) for i, time in enumerate(times))


def told(times, left=10_000, prior=PRIOR, each=1):
    steps = steps_of(times, each)
    return forecast_step(10.0, prior, steps, disturbances(Series(steps, (), (), (), 0.0)), left)


def evidence(failures=0, exposed=0.0, away=()):
    return Evidence(
        done=1,
        total=2,
        steps=(),
        elapsed=exposed,
        elapsed_from="clock",
        interruptions=(),
        failures=failures,
        exposed=exposed,
        away=away,
        now=None,
        progress=(),
    )


def test_without_steps_the_step_is_as_predicted():
    found = forecast_step(10.0, PRIOR, (), disturbances(Series(steps_of([1.0]), (), (), (), 0.0)), 100)
    assert found.ratio == PRIOR.median
    assert found.error.sd_ln == PRIOR.sd_ln


@given(st.floats(0.6, 1.8))
def test_a_long_log_is_believed_whatever_was_predicted(ratio):
    times = 10 * ratio * np.exp(0.01 * np.random.default_rng(1).standard_normal(2000))
    found = told(times, each=100)
    assert found.ratio == pytest.approx(times.mean() / 10, rel=2e-3)
    assert found.error.sd_ln < 0.02


def test_one_step_moves_the_prediction_as_far_as_its_noise_says():
    """Two normals would meet at the mean weighted by precision; near their centres Student t does nearly so."""
    found = told([10.5])
    assert log(1.05) - 0.02 < log(found.ratio) < log(1.1)
    assert found.error.sd_ln < PRIOR.sd_ln


def test_the_error_of_a_mean_knows_that_neighbours_are_alike():
    luck = np.random.default_rng(2)
    noise = luck.standard_normal(4000)
    alike = np.zeros(4000)
    for i in range(1, 4000):
        alike[i] = 0.99 * alike[i - 1] + sqrt(1 - 0.99**2) * noise[i]
    plain = measured_level(steps_of(10 * np.exp(0.01 * noise)), 10.0)
    follows = measured_level(steps_of(10 * np.exp(0.01 * alike)), 10.0)
    assert plain.se == pytest.approx(0.01 / sqrt(4000), rel=0.5)
    assert follows.se == pytest.approx(0.01 * sqrt((1 + 0.99) / (1 - 0.99) / 4000), rel=0.6)


def test_after_a_change_the_last_level_counts_and_another_change_is_possible():
    times = np.r_[np.full(300, 10.0), np.full(300, 13.0)] * np.exp(
        0.005 * np.random.default_rng(3).standard_normal(600)
    )
    found, quiet = told(times), told(times[300:])
    assert found.ratio == pytest.approx(1.3, rel=0.01)
    assert found.error.sd_ln > 3 * quiet.error.sd_ln


def test_a_step_that_is_given_is_replaced_by_that_of_the_log():
    assert told([12.0] * 50, prior=SURE).ratio == pytest.approx(1.2, rel=1e-6)


def test_without_evidence_runs_are_those_of_the_prior():
    doubts = Unknowns(3, counts={"gpu": 20.0}, recovery=("detect", "restart"))
    really = corrected(RUN, doubts, evidence(), 0.0)
    for number in range(5):
        found = really(RUN, number)
        assert found.failures == doubts.failures(RUN.failures, number)
        assert found.recovery == doubts.recovered(RUN.recovery, number)


def test_little_evidence_is_nearly_none():
    really = corrected(RUN, Unknowns(3), evidence(0, 60.0), 0.0)
    assert really.rate.after.at(0.5) == pytest.approx(1.0, abs=0.01)
    assert really.rate.after.at(0.9) == pytest.approx(exp(FLEETS * 1.2816), rel=0.01)


@given(st.floats(0.2, 6.0))
def test_a_rate_that_was_watched_for_long_is_that_of_the_log(factor):
    rate = RUN.failures.rate(RUN.all_units)
    exposed = 1e5 / rate / factor
    really = corrected(RUN, Unknowns(3), evidence(100_000, exposed), 0.0)
    for number in range(3):
        drawn = really(RUN, number).failures.rate(RUN.all_units)
        assert drawn == pytest.approx(1e5 / exposed, rel=0.02)


def test_the_rate_is_a_gamma_where_the_prior_says_nothing():
    """With a prior this wide the posterior of a Poisson rate after n failures is Gamma(n), whose median is known."""
    from scipy.stats import gamma

    rate = RUN.failures.rate(RUN.all_units)
    wide = Unknowns(3, counts={"gpu": 0.01})
    really = corrected(RUN, wide, evidence(8, 8 / rate), 0.0)
    assert really.rate.sd > 9
    for share in (0.1, 0.5, 0.9):
        assert really.rate.after.at(share) == pytest.approx(gamma(8).ppf(share) / 8, rel=0.03)


def test_restarts_that_were_timed_often_take_what_they_took():
    away = tuple(np.random.default_rng(4).lognormal(log(4000), 0.3, 5000))
    really = corrected(RUN, Unknowns(3), evidence(5000, 1e9, away), 60.0)
    mean = np.mean(away) - 60.0
    assert really(RUN, 1).recovery.mean_down(1024) == pytest.approx(mean, rel=0.03)


def test_failures_of_a_scenario_without_any_are_simulated_once_they_happened():
    none = replace(RUN, failures=replace(RUN.failures, causes=()))
    assert seen(none, evidence(0, 1e6)) is none
    told = evidence(9, 9 * DAY)
    found = seen(none, told)
    assert found.failures.rate(found.all_units) == pytest.approx(1 / DAY)
    really = corrected(found, Unknowns(3), told, 0.0)
    rates = [really(found, number).failures.rate(found.all_units) * DAY for number in range(200)]
    assert np.median(rates) == pytest.approx(1.0, rel=0.1)
    assert np.std(rates) == pytest.approx(1 / 3, rel=0.25)


def test_failures_that_were_switched_off_stay_off_beside_those_that_happened():
    off = replace(RUN, failures=replace(RUN.failures, scale=0.0))
    found = seen(off, evidence(9, 9 * DAY))
    assert found.failures.rate(found.all_units) == pytest.approx(1 / DAY)


def test_the_alarm_of_steps_says_since_when():
    error = StepError(1.0, (Reason("any run", 0.1 / quantile(0.9)),))
    times = np.r_[np.full(200, 10.2), np.full(200, 14.0)] * np.exp(
        0.003 * np.random.default_rng(5).standard_normal(400)
    )
    steps = steps_of(times)
    found = disturbances(Series(steps, (), (), (), 0.0))
    late = of_step(steps, found, 10.0, error)
    assert late.since == 201
    assert late.above
    assert of_step(steps[:200], disturbances(Series(steps[:200], (), (), (), 0.0)), 10.0, error) is None
    whole = of_step(steps[200:], disturbances(Series(steps[200:], (), (), (), 0.0)), 10.0, error)
    assert whole.since is None


def test_drift_out_of_the_range_has_its_place():
    error = StepError(1.0, (Reason("any run", 0.1 / quantile(0.9)),))
    steps = steps_of(10 * (1 + 0.4 * np.arange(1000) / 1000))
    late = of_step(steps, disturbances(Series(steps, (), (), (), 0.0)), 10.0, error)
    assert 200 < late.since < 320


@pytest.mark.parametrize(("failures", "alarmed"), [(14, False), (90, True), (1, True)])
def test_the_alarm_of_failures_knows_luck_and_doubt(failures, alarmed):
    rate = RUN.failures.rate(RUN.all_units)
    found = of_failures(evidence(failures, 14 / rate), rate, Factor(FLEETS, None))
    assert (found is not None) == alarmed


def test_a_range_of_failures_holds_80_percent():
    luck = np.random.default_rng(6)
    rate = RUN.failures.rate(RUN.all_units)
    counts = luck.poisson(14 * np.exp(FLEETS * luck.standard_normal(4000)))
    outside = np.mean(
        [of_failures(evidence(int(n), 14 / rate), rate, Factor(FLEETS, None)) is not None for n in counts]
    )
    assert 0.1 < outside <= 0.2


def test_corrected_runs_are_the_same_in_any_process():
    import pickle

    really = corrected(RUN, Unknowns(3), evidence(5, 1e6, (900.0,)), 0.0)
    again: Corrected = pickle.loads(pickle.dumps(really))
    assert again(RUN, 2) == really(RUN, 2)
