"""What is fitted to lives is what they were drawn from."""

from __future__ import annotations

import numpy as np
import pytest

from simulator.random import stream
from simulator.reliability import estimate
from simulator.reliability.durations.fixed import Fixed
from simulator.reliability.failures.exponential import Exponential
from simulator.reliability.failures.weibull import Weibull
from simulator.reliability.fleet import Failures
from simulator.reliability.recovery.restart import Restart
from simulator.reliability.spares import load, needed, waiting

DAY = 86400.0


def test_the_interval_of_a_rate_covers_as_often_as_it_says():
    counts = stream(1, "counts").poisson(20.0, 2000)
    found = [estimate.rate(int(count), 1.0) for count in counts]
    assert np.mean([interval.low <= 20 <= interval.high for interval in found]) >= 0.9


def test_no_failure_leaves_an_upper_bound():
    found = estimate.rate(0, 10.0)
    assert found == pytest.approx((0.0, 0.0, -np.log(0.05) / 10))


@pytest.mark.parametrize("shape", [0.6, 1.0, 2.6])
def test_a_shape_is_found_again_with_half_of_the_lives_still_running(shape: float):
    lives = Weibull(unit="gpu", mtbf=100.0, shape=shape).lives(stream(1, "lives"), 40_000)
    watched = np.median(lives)
    ended, running = lives[lives <= watched].tolist(), [float(watched)] * int((lives > watched).sum())
    found = estimate.weibull_shape(ended, running)
    assert found == pytest.approx(shape, rel=0.03)
    assert estimate.weibull_mean(found, ended, running) == pytest.approx(100.0, rel=0.05)


def test_the_load_on_spares_counts_what_takes_hosts_away():
    causes = (
        Exponential(unit="host", mtbf=DAY / 0.00379),
        Exponential(unit="job", mtbf=DAY),
        Exponential(unit="switch", mtbf=1000 * DAY, repair=Fixed(time=DAY / 2)),
    )
    units = {"gpu": 16384, "host": 2048, "switch": 128, "job": 1}
    away = load(Failures(causes=causes), Restart(repair=Fixed(time=DAY)), units, {"switch": 16})
    assert away == pytest.approx(2048 * 0.00379 + 128 / 1000 * 16 / 2)
    assert waiting(2048 * 0.00379, 9) == pytest.approx(0.111, abs=1e-4)
    assert needed(0.65) == 3
