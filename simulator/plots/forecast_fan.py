"""The finish of a run under way: the fan of the prediction, and that of the forecast from where the run stands."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from simulator.io.readable import DAY, HOUR
from simulator.outcome.results import Distribution
from simulator.plots import colours
from simulator.studies.forecast.forecast import Forecast

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw(told: Forecast, axes: Axes) -> Axes:
    """Draw steps over time: what is done, where it ends by the forecast, and where it was predicted to end."""
    evidence, wall, before = told.evidence, told.wall_clock_s, told.before.run.wall_clock_s
    ends = [value for value in (wall.p90, before.p90, evidence.elapsed) if np.isfinite(value)]
    unit, name = (DAY, "days") if max(ends) > 2 * DAY else (HOUR, "hours")
    _fan(axes, 0.0, 0, before, evidence.total, unit, colours.DARK_GREY, "predicted, P10 to P90")
    _fan(axes, evidence.elapsed, evidence.done, wall, evidence.total, unit, colours.BLUE, "forecast, P10 to P90")
    times, steps = zip(*evidence.progress, strict=True)
    axes.plot(np.array(times) / unit, steps, color="black", linewidth=1.6, label="done")
    if (deadline := told.targets.get("deadline_s")) is not None:
        axes.axvline(deadline / unit, color=colours.VERMILLION, linestyle="--", linewidth=1, label="deadline")
        ends.append(deadline)
    axes.set_xlim(0, 1.05 * max(ends) / unit)
    axes.set_ylim(0, 1.02 * evidence.total)
    axes.set_xlabel(f"{name} since the run began")
    axes.set_ylabel("steps")
    axes.set_title("Where the run ends")
    axes.legend(loc="upper left", fontsize=8, frameon=False)
    return axes


def _fan(
    axes: Axes, start: float, done: int, ends: Distribution, total: int, unit: float, colour: str, label: str
) -> None:
    """Draw the wedge from a point to the range in which the last step is done; nothing where that is never."""
    if not np.isfinite(ends.p90):
        return
    corners = [(start / unit, done), (ends.p10 / unit, total), (ends.p90 / unit, total)]
    axes.fill(*np.array(corners).T, color=colour, alpha=0.2, linewidth=0, label=label)
    axes.plot([start / unit, ends.p50 / unit], [done, total], color=colour, linewidth=1)
