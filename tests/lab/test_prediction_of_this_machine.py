"""A step predicted from measured kernels: on a machine that is as the model says, it is the step of the model."""

from __future__ import annotations

from dataclasses import replace

import pytest

from simulator.lab import prediction
from simulator.lab.kernels import Kernels
from simulator.scenario import from_dict
from simulator.simulation import predict

RATE, BUS = 1e10, 1e9
SHAPES = ((1024, 576, 192), (1024, 192, 192), (1024, 768, 192), (1024, 192, 768), (192, 768, 1024))
SIZES = tuple(float(1 << power) for power in range(12, 28, 2))


def kernels(rate: float = RATE, bus: float = BUS) -> Kernels:
    return Kernels(
        products=tuple((m, n, k, 2.0 * m * n * k / rate) for m, n, k in SHAPES * 20),
        elementwise=((4e6, 2e-3), (16e6, 8e-3), (4e6, 2e-3)),
        bandwidth=4e9,
        all_reduces=tuple((size, 1e-3 + 1.5 * size / bus) for size in SIZES for _ in range(5)),
    )


def predicted(made: Kernels) -> prediction.Predicted:
    return prediction.predicted(layers=4, hidden=192, context=128, batch=8, ranks=4, kernels=made)


def test_peak_and_bus_are_read_off_the_kernels():
    assert prediction.peak(kernels()) == pytest.approx(RATE)
    assert prediction.bus(kernels(), 4) == pytest.approx(BUS, rel=0.01)


def test_calibrated_products_take_as_long_as_measured():
    evidence = predicted(kernels()).calibration.evidence[0]
    assert evidence.after < 0.25
    assert evidence.after < evidence.before


def test_an_all_reduce_takes_about_as_long_as_measured():
    gradients = 4.0 * (4 * 12 * 192**2 + 2 * 256 * 192)
    assert predicted(kernels()).all_reduce == pytest.approx(1e-3 + 1.5 * gradients / BUS, rel=0.35)


def test_half_the_rate_nearly_doubles_the_step():
    slow, fast = (predicted(kernels(rate)).step for rate in (RATE / 2, RATE))
    assert 1.4 < slow / fast < 2.0


def test_the_step_is_that_of_the_scenario_with_the_calibration():
    made = kernels()
    scenario = from_dict(prediction.described(4, 192, 128, 8, 4, made))
    found = predicted(made)
    assert predict(replace(scenario, calibration=found.calibration)).step_time_s == found.step
