"""Forecasts of runs drawn from what is believed hold what they promise: 80% ranges hold four in five, and shrink."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest

from tests.forecast.drawn import forecasted, truth

SHARES = (0.1, 0.25, 0.5)


def calibration(runs: int, share: float) -> tuple[float, float]:
    """Return the share of runs that end inside their range, and the mean width of it."""
    found = [forecasted(truth(seed), share, 40) for seed in range(runs)]
    inside = np.mean([one.low <= one.ends <= one.high for one in found])
    return float(inside), float(np.mean([one.high - one.low for one in found]))


@pytest.mark.slow
def test_ranges_hold_80_percent_of_runs_and_become_narrower():
    """75 to 85%, give or take what 250 runs leave open (two standard errors)."""
    runs = 250
    margin = 2 * sqrt(0.8 * 0.2 / runs)
    found = [calibration(runs, share) for share in SHARES]
    for inside, _ in found:
        assert 0.75 - margin <= inside <= 0.85 + margin
    widths = [width for _, width in found]
    assert widths == sorted(widths, reverse=True)


def test_a_few_runs_end_inside_their_ranges():
    """Of 15 runs 8 or fewer are inside with a chance of 2% if ranges hold 80%."""
    early, late = (calibration(15, share) for share in (0.1, 0.5))
    assert early[0] > 8 / 15
    assert late[0] > 8 / 15
    assert late[1] < early[1]
