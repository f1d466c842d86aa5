"""Why a range is wide, in words: the largest reason first, what all runs have last, and where the centre is."""

from __future__ import annotations

from dataclasses import replace

from simulator.outcome.levels import BASE
from simulator.outcome.results import ErrorReason, ModelError, Result
from simulator.report import doubt, text

ERROR = ModelError(
    sd_ln=0.41,
    median_ratio=1.07,
    reasons=(
        ErrorReason(what="no run on this accelerator was ever measured", sd_ln=0.4),
        ErrorReason(what=BASE, sd_ln=0.09),
    ),
)


def test_reasons_come_in_order_with_the_factor_of_each() -> None:
    first, base, centre = doubt.lines(ERROR)
    assert first == "wider: no run on this accelerator was ever measured, x1.80"
    assert base == f"{BASE}: x1.14"
    assert "x1.07" in centre


def test_a_step_that_is_sure_has_none() -> None:
    assert doubt.lines(ModelError()) == ()


def test_the_report_says_them(result: Result) -> None:
    told = text.write(replace(result, step=replace(result.step, error=ERROR)))
    assert "wider: no run on this accelerator was ever measured, x1.80" in told
