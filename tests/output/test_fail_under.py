"""`--fail-under` finds a number by its path or its last word, and says what is under it."""

from __future__ import annotations

import pytest

from simulator.errors import ScenarioError
from simulator.outcome.results import Result
from simulator.report.threshold import misses


@pytest.mark.parametrize("floor", ["mfu=0.4", "step.mfu=40%", "goodput=0.9", "run.goodput.p10=0.85", "p_fits=0.9"])
def test_what_is_high_enough_passes(floor: str, result: Result) -> None:
    assert misses(result, [floor]) == []


def test_what_is_too_low_is_named_with_both_numbers(result: Result) -> None:
    assert misses(result, ["mfu=0.5", "goodput=0.9", "tokens_per_s=1e9"]) == [
        "mfu is 0.404, under 0.5",
        "tokens_per_s is 2.58908e+06, under 1e+09",
    ]


def test_what_is_not_known_does_not_pass() -> None:
    from example_result import measured_step

    assert misses(measured_step(), ["mfu=0.1"]) == ["mfu is unknown, under 0.1"]


@pytest.mark.parametrize("floor", ["mfuu=0.4", "mfu", "mfu=high", "=1", "p50=1", "mfu=nan", "mfu=inf", "mfu=-inf%"])
def test_what_means_nothing_is_an_error(floor: str, result: Result) -> None:
    with pytest.raises(ScenarioError):
        misses(result, [floor])
