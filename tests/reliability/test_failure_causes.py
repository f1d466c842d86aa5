"""Causes fail n units n / mtbf times a second in the long run, whatever the shape of a life."""

from __future__ import annotations

from itertools import takewhile

import numpy as np
import pytest

from simulator.errors import ScenarioError
from simulator.random import stream
from simulator.reliability.failures.exponential import Exponential
from simulator.reliability.failures.lognormal import Lognormal
from simulator.reliability.failures.renewal import Renewal
from simulator.reliability.failures.scripted import Scripted
from simulator.reliability.failures.trace import Trace
from simulator.reliability.failures.weibull import Weibull
from simulator.reliability.fleet import BurnIn, Failures
from simulator.reliability.incident import Incident
from simulator.reliability.incidents import incidents

DAY = 86400.0
UNITS = {"gpu": 4096, "host": 512, "job": 1}
SHAPES = [
    Exponential(unit="host", mtbf=100 * DAY),
    Weibull(unit="host", mtbf=100 * DAY, shape=0.5),
    Weibull(unit="host", mtbf=100 * DAY, shape=2.0),
    Weibull(unit="host", mtbf=100 * DAY, shape=4.0),
    Lognormal(unit="host", mtbf=100 * DAY, shape=1.0),
]


def strikes(failures: Failures, until: float, seed: int = 3, units: dict[str, int] = UNITS) -> list[Incident]:
    def of_seed(*names: object) -> np.random.Generator:
        return stream(seed, *names)

    return list(takewhile(lambda i: i.time < until, incidents(failures, units, of_seed, of_job=False)))


@pytest.mark.parametrize("cause", SHAPES, ids=lambda cause: f"{cause.kind} {getattr(cause, 'shape', '')}")
def test_an_aged_fleet_fails_at_the_long_run_rate_from_the_first_day(cause: Renewal):
    counts = [len(strikes(Failures(causes=(cause,)), 30 * DAY, seed)) for seed in range(60)]
    expected = 512 * 30 / 100
    assert np.mean(counts) == pytest.approx(expected, abs=3 * np.std(counts) / 60**0.5)


@pytest.mark.parametrize("cause", SHAPES, ids=lambda cause: f"{cause.kind} {getattr(cause, 'shape', '')}")
def test_lives_have_the_mean_of_one_unit(cause: Renewal):
    lives = cause.lives(stream(1, "lives"), 400_000)
    assert lives.mean() == pytest.approx(100 * DAY, rel=0.01)


def test_failures_far_beyond_the_mean_are_found_at_once():
    """A life of shape 1/50 that is still running lasts many powers of ten longer than the mean life."""
    failures = Failures(causes=(Weibull(unit="host", mtbf=100 * DAY, shape=0.02),))
    found = incidents(failures, UNITS, lambda *names: stream(3, *names), of_job=False)
    assert next(found).time > 1e9 * 100 * DAY


def test_a_new_fleet_with_infant_mortality_fails_more_at_first():
    aged = Failures(causes=(Weibull(unit="host", mtbf=100 * DAY, shape=0.5),))
    new = Failures(causes=(Weibull(unit="host", mtbf=100 * DAY, shape=0.5, age="new"),))
    assert len(strikes(new, 5 * DAY)) > 2 * len(strikes(aged, 5 * DAY))


def test_times_increase_and_repeat_under_the_same_seed():
    failures = Failures(causes=(*SHAPES, Scripted(unit="host", every=DAY)))
    first = strikes(failures, 20 * DAY)
    assert first == strikes(failures, 20 * DAY)
    assert [incident.time for incident in first] == sorted(incident.time for incident in first)


def test_doubling_the_rates_halves_the_times():
    once = strikes(Failures(causes=SHAPES[:1]), 100 * DAY)
    twice = strikes(Failures(causes=SHAPES[:1], scale=2.0), 50 * DAY)
    assert [2 * incident.time for incident in twice] == pytest.approx([incident.time for incident in once])


def test_the_size_exponent_takes_the_rate_of_32k_gpus_to_that_of_98k():
    failures = Failures(causes=SHAPES[:1], size=32768, size_exponent=0.94)
    assert failures.factor("host", 98304) == pytest.approx(2.8, rel=0.01)
    assert failures.factor("job", 98304) == 1.0


def test_repeats_leave_the_total_rate_alone():
    def causes(repeat: float) -> Failures:
        return Failures(causes=SHAPES[:1], repeat=repeat)

    assert len(strikes(causes(0.25), 3000 * DAY)) == pytest.approx(
        0.75 * len(strikes(causes(0.0), 3000 * DAY)), rel=0.02
    )


def test_defects_of_a_new_fleet_come_on_top_once():
    failures = Failures(burn_in=BurnIn(share=0.1, time=7 * DAY))
    counts = [len(strikes(failures, 365 * DAY, seed)) for seed in range(50)]
    assert np.mean(counts) == pytest.approx(51.2, abs=3 * np.std(counts) / 50**0.5)


def test_a_script_strikes_when_it_says():
    script = Scripted(unit="host", at=(5.0, 25.0), every=10.0)
    assert [incident.time for incident in strikes(Failures(causes=(script,)), 31.0)] == [5.0, 10.0, 20.0, 25.0, 30.0]


def test_a_trace_replays_its_log_again_and_again():
    log = "time,host,class,downtime\n30,7,gpu,600\n10,3,gpu,\n20,4,nic,60\n"
    trace = Trace(unit="host", log=log, only="gpu", length=100.0)
    found = strikes(Failures(causes=(trace,)), 140.0)
    assert [(incident.time, incident.host, incident.away) for incident in found] == [
        (10.0, 3, None),
        (30.0, 7, 600.0),
        (110.0, 3, None),
        (130.0, 7, 600.0),
    ]
    assert trace.rate(512) == pytest.approx(0.02)


def test_a_weibull_on_the_job_warns():
    assert Failures(causes=(Weibull(unit="job", mtbf=7200.0),)).warnings()
    assert not Failures(causes=(Weibull(unit="host", mtbf=7200.0),)).warnings()


def test_a_script_without_times_is_refused():
    with pytest.raises(ScenarioError, match="at"):
        Scripted(unit="host")
