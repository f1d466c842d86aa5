"""P(fits) on published families with both outcomes: near what happened where the stack is known."""

from __future__ import annotations

import pytest

from simulator.scenario import from_dict
from simulator.simulation import fits
from simulator.validation import files
from simulator.validation.expression import InexpressibleError
from simulator.validation.rows import expression
from simulator.validation.scores import fit

BOTH = ("V13", "tt", "MS")
"""Families that ship, in which some runs died of memory and others did not."""


@pytest.mark.slow
def test_chances_to_fit_are_near_what_happened() -> None:
    (runs,) = (path for path in files.shipped() if path.stem == "runs")
    happened, predicted = [], []
    for row in files.read(runs).rows:
        if row.text("family") not in BOTH or (died := row.real("oom")) is None:
            continue
        try:
            tried = [from_dict(one) for one in expression(row).scenarios]
        except InexpressibleError:
            continue
        happened.append(died)
        predicted.append(1 - max(fits(one).p_fits for one in tried))
    found = fit(happened, predicted)
    assert found.count > 90
    assert found.brier <= 0.06
    assert found.accuracy_outside_tight >= 0.95
