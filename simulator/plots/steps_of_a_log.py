"""The steps of a log over their numbers: each time, the levels, and what was expected."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from simulator.measured.explained import Explanation

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw(told: Explanation, axes: Axes) -> Axes:
    """Draw every step, the level of undisturbed ones and the range that was expected."""
    steps, found, expected = told.series.steps, told.found, told.expected
    numbers = np.array([one.number for one in steps])
    times = np.array([one.seconds for one in steps])
    low, high = min(expected.time_low_s, found.p10_s), max(expected.time_high_s, found.p90_s)
    top = high + 0.8 * (high - low) + 0.05 * high
    name = "predicted, 80%" if expected.source == "prediction" else "steps without disturbance"
    axes.axhspan(expected.time_low_s, expected.time_high_s, color="tab:green", alpha=0.15, linewidth=0, label=name)
    inside = times <= top
    axes.plot(numbers[inside], times[inside], ".", markersize=3, color="tab:blue", label="steps", rasterized=True)
    if not inside.all():
        above = numbers[~inside]
        axes.plot(above, np.full(len(above), top), "^", markersize=5, color="tab:red", label=f"{len(above):,} above")
    for change in found.changes:
        axes.axvline(change.step, color="0.4", linewidth=0.8, linestyle="--")
    axes.axhline(found.level_s, color="0.2", linewidth=0.8, label=f"level {found.level_s:.4g} s")
    axes.set_ylim(max(low - 0.5 * (high - low) - 0.05 * high, 0), top * 1.02)
    axes.set_xlabel("step")
    axes.set_ylabel("seconds")
    axes.set_title(f"Steps of {told.log.name.rpartition('/')[2]}")
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.12), ncols=4, fontsize=8, frameon=False)
    return axes
