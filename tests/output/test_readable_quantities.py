"""Quantities are written as a person would write them; the examples in the documentation hold."""

from __future__ import annotations

import doctest

import pytest

from simulator import tracks
from simulator.io import readable


@pytest.mark.parametrize("module", [readable, tracks])
def test_examples_hold(module: object) -> None:
    tried = doctest.testmod(module)  # type: ignore[arg-type]
    assert tried.attempted > 0
    assert tried.failed == 0


@pytest.mark.parametrize("value", [9.995, 99.95, 0.9999, 999.5, 1e-9, 123456789.0])
def test_three_digits_are_three_digits(value: float) -> None:
    written = readable.digits(value).replace(",", "")
    assert float(written) == pytest.approx(value, rel=0.005)


def test_no_time_is_written_as_a_number_when_it_never_ends() -> None:
    assert readable.duration(float("inf")) == "never"
