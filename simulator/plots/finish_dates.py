"""When the run will be finished: the spread over simulated runs, with P10, P50 and P90."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING

from simulator.io.readable import DAY, HOUR, digits
from simulator.outcome.results import Distribution, Result
from simulator.plots import colours

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SIZE = (9.0, 3.6)
SAME = 1e-9
"""Relative difference below which runs are the same."""


def applies(result: Result) -> bool:
    return len(_finished(result)) > 0


def draw(result: Result, axes: Axes) -> Axes:
    """Draw a histogram of the wall clock, with a line at each percentile and at the ideal."""
    samples = _finished(result)
    wall = result.run.luck.wall_clock_s if result.run.luck else result.run.wall_clock_s
    scale, unit = (DAY, "days") if wall.p50 >= 2 * DAY else (HOUR, "hours")
    days = [sample / scale for sample in samples]
    counts, edges, _ = axes.hist(days, bins=_bins(days), color=colours.SKY, edgecolor=colours.PAPER, linewidth=0.8)
    top = float(max(counts))
    marks = _marks(wall, scale)
    label = {"facecolor": colours.PAPER, "edgecolor": "none", "pad": 1.0}
    for (name, value), height in zip(marks, (1.06, 1.21, 1.36), strict=False):
        axes.plot([value, value], [0, height * top], color=colours.INK, linewidth=1.2)
        axes.text(
            value,
            (height + 0.02) * top,
            f"{name}  {digits(value)}",
            ha="center",
            va="bottom",
            fontsize=9,
            weight="bold",
            bbox=label,
        )
    axes.set_ylim(0, 1.52 * top)
    margin = 0.08 * max(float(edges[-1] - edges[0]), 0.02 * wall.p50 / scale)
    axes.set_xlim(min(edges[0], wall.p10 / scale) - margin, max(edges[-1], wall.p90 / scale) + margin)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    axes.set_ylabel("share of the runs")
    sure = "" if result.step.time_low_s == result.step.time_high_s else "; failures alone, the step as predicted"
    axes.set_xlabel(
        f"{unit} from start to end ({digits(result.run.ideal_s / scale)} if nothing went wrong);"
        f" {len(samples):,} simulated runs{sure}"
    )
    most = "Every run ends after" if len(marks) == 1 else "Nine runs in ten end within"
    axes.set_title(f"{most} {digits(wall.p90 / scale)} {unit}")
    return axes


def _marks(wall: Distribution, scale: float) -> list[tuple[str, float]]:
    """Return the percentiles that are marked; one line where they are the same."""
    if wall.p90 - wall.p10 <= SAME * wall.p90:
        return [("P10 to P90", wall.p50 / scale)]
    return [(f"P{n}", value / scale) for n, value in ((10, wall.p10), (50, wall.p50), (90, wall.p90))]


def _finished(result: Result) -> tuple[float, ...]:
    return tuple(sample for sample in result.run.samples if isfinite(sample) and sample > 0)


def _bins(days: list[float]) -> int | list[float]:
    """Return about the square root of their number, one bin where all are equal."""
    low, high = min(days), max(days)
    if high - low <= SAME * high:
        return [0.995 * low, 1.005 * low]
    return min(max(int(len(days) ** 0.5 * 1.5), 5), 40)
