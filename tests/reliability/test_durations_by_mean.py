"""Every duration is given by its mean, whatever its shape."""

from __future__ import annotations

import numpy as np
import pytest

from simulator.errors import ScenarioError
from simulator.kinds import kinds
from simulator.random import stream
from simulator.reliability.durations.base import Duration
from simulator.reliability.durations.exponential import ExponentialDuration
from simulator.reliability.durations.fixed import Fixed
from simulator.reliability.durations.lognormal import LognormalDuration
from simulator.reliability.durations.mixture import Mixture, Part
from simulator.reliability.durations.uniform import Uniform
from simulator.reliability.durations.weibull import WeibullDuration

EXAMPLES = (
    Fixed(time=480.0),
    ExponentialDuration(mean=480.0),
    LognormalDuration(mean=480.0, cv=0.5),
    WeibullDuration(mean=480.0, shape=0.7),
    Uniform(low=60.0, high=900.0),
    Mixture(parts=(Part(share=0.7, mean=600.0, cv=0.0), Part(share=0.3, mean=200.0, cv=2.0))),
)


def test_every_kind_of_duration_has_an_example_here():
    assert {type(example) for example in EXAMPLES} == set(kinds("simulator.reliability.durations", Duration).values())


@pytest.mark.parametrize("duration", EXAMPLES, ids=lambda duration: duration.kind)
def test_draws_have_the_mean_of_the_duration(duration: Duration):
    draws = duration.sample(stream(1, "duration"), 200_000)
    assert draws.min() >= 0
    assert draws.mean() == pytest.approx(duration.expected(), abs=4 * draws.std() / np.sqrt(200_000) + 1e-9)


@pytest.mark.parametrize("duration", EXAMPLES, ids=lambda duration: duration.kind)
@pytest.mark.parametrize("time", [0.0, 90.0, 480.0, 599.0, 1200.0])
def test_the_share_that_is_longer_is_that_of_the_draws(duration: Duration, time: float):
    draws = duration.sample(stream(1, "duration"), 200_000)
    assert duration.longer_than(time) == pytest.approx((draws > time).mean(), abs=0.005)


@pytest.mark.parametrize("duration", EXAMPLES, ids=lambda duration: duration.kind)
def test_a_scaled_duration_has_its_shape_at_another_length(duration: Duration):
    draws, scaled = (one.sample(stream(1, "duration"), 1000) for one in (duration, duration.scaled(2.5)))
    assert scaled == pytest.approx(2.5 * draws)
    assert duration.scaled(2.5).expected() == pytest.approx(2.5 * duration.expected())


def test_a_lognormal_has_its_coefficient_of_variation():
    draws = LognormalDuration(mean=480.0, cv=0.5).sample(stream(1, "duration"), 200_000)
    assert draws.std() / draws.mean() == pytest.approx(0.5, rel=0.02)


def test_a_mixture_draws_each_part_by_its_share():
    mixture = Mixture(parts=(Part(share=3, mean=1.0, cv=0.0), Part(share=1, mean=9.0, cv=0.0)))
    draws = mixture.sample(stream(1, "duration"), 100_000)
    assert (draws > 5).mean() == pytest.approx(0.25, abs=0.01)
    assert mixture.expected() == pytest.approx(3.0)


def test_a_duration_that_makes_no_sense_is_refused():
    with pytest.raises(ScenarioError, match="share"):
        Mixture(parts=())
    with pytest.raises(ScenarioError, match="from `low` to `high`"):
        Uniform(low=2.0, high=1.0)
