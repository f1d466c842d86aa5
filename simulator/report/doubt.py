"""Why the range around a step is as wide as it is, in words, the largest reason first."""

from __future__ import annotations

from math import exp

from simulator.outcome.levels import BASE
from simulator.outcome.results import ModelError
from simulator.outcome.step_error import HIGH
from simulator.outcome.student import quantile
from simulator.units import Number

SHOWN: Number = 0.01
"""A centre nearer to the prediction than this is not worth a line."""


def lines(error: ModelError) -> tuple[str, ...]:
    """Return what widens the range, each with the factor that it alone would reach up and down; none of a sure step.

    >>> from simulator.outcome.results import ErrorReason
    >>> lines(ModelError(sd_ln=0.2, reasons=(ErrorReason(what="no run on this accelerator", sd_ln=0.2),)))
    ('wider: no run on this accelerator, x1.34',)
    """
    return (
        *(f"wider: {one.what}, {_times(one.sd_ln)}" for one in error.reasons if one.what != BASE),
        *(f"{one.what}: {_times(one.sd_ln)}" for one in error.reasons if one.what == BASE),
        *_centre(error),
    )


def _centre(error: ModelError) -> tuple[str, ...]:
    if abs(error.median_ratio - 1) < SHOWN:
        return ()
    return (f"half of such runs took more than x{error.median_ratio:.2f} of the prediction; the range is around that",)


def _times(sd_ln: Number) -> str:
    return f"x{exp(sd_ln * quantile(HIGH)):.2f}"
