"""A figure over a key of numbers: a line for each combination of the other keys."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from simulator.plots import colours
from simulator.plots.captions import Row, Rows, as_good, measure, series, titled
from simulator.plots.marks import MARKS
from simulator.plots.names import named
from simulator.studies.metrics import scale
from simulator.studies.sweep import best, feasible
from simulator.studies.vary import Axis

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_TICKS = 12
NEAR = 0.045
"""Share of the axis within which the words of two ticks run into each other."""
BANDS = {"wall_clock_p50_s": ("wall_clock_p10_s", "wall_clock_p90_s"), "dollars_p50": ("dollars_p10", "dollars_p90")}
"""Percentiles around a median."""
WIDE = 8.0
"""Largest over smallest number from which an axis is logarithmic."""


def draw(rows: Rows, varied: Sequence[Axis], over: Axis, metric: str, drawing: Axes) -> Axes:
    """Draw a line for each combination of what is not `over`; a point that fits tightly is hollow."""
    size, unit = scale(metric, [row.get(metric) for row in feasible(list(rows))])
    place = dict(zip(over.values, over.numbers or (), strict=True))
    found = series(rows, varied, over)
    tight = False
    for index, (name, ones) in enumerate(found.items()):
        able = [row for row in feasible(ones) if row.get(metric) is not None]
        able.sort(key=lambda row: place[row[over.key]])
        across, up = [place[row[over.key]] for row in able], [row[metric] / size for row in able]
        mark = MARKS[index % len(MARKS)]
        (line,) = drawing.plot(across, up, marker=mark, markersize=5, label=name)
        for row, x, y in zip(able, across, up, strict=True):
            if row["verdict"] == "tight":
                tight = True
                drawing.scatter([x], [y], s=25, marker=mark, color=colours.PAPER, edgecolor=line.get_color(), zorder=3)
        if metric in BANDS and len(found) <= 3:
            low, high = ([row[bound] / size for row in able] for bound in BANDS[metric])
            drawing.fill_between(across, low, high, color=line.get_color(), alpha=0.15, linewidth=0)
    _ticks(over, drawing)
    drawing.set_ylabel(measure(metric, unit))
    drawing.grid(axis="y")
    if drawing.get_ylim()[0] > 0 and drawing.get_ylim()[0] < 0.6 * drawing.get_ylim()[1]:
        drawing.set_ylim(bottom=0)
    if len(found) > 1:
        if tight:
            drawing.scatter([], [], s=25, color=colours.PAPER, edgecolor=colours.INK, label="hollow: tight in memory")
        drawing.legend()
    elif len(over.numbers or ()) <= MOST_TICKS:
        _apart(rows, over, metric, drawing)
    return titled(rows, varied, metric, drawing)


def _ticks(over: Axis, drawing: Axes) -> None:
    """Name the values as they are written, those that would run into the one before them left unnamed."""
    from math import log

    numbers = over.numbers or ()
    wide = min(numbers) > 0 and max(numbers) / min(numbers) >= WIDE
    if wide:
        drawing.set_xscale("log", base=2)
    all_named = len(numbers) <= MOST_TICKS or not over.unit
    if len(numbers) <= MOST_TICKS:
        at = {number: log(number) if wide else number for number in numbers}
        room = NEAR * (max(at.values()) - min(at.values()))
        words, last = [], float("-inf")
        for number, value in sorted(zip(numbers, over.values, strict=True)):
            free = at[number] - last >= room
            words.append((number, value if free else ""))
            last = at[number] if free else last
        drawing.set_xticks([number for number, _ in words], [named(value) for _, value in words])
        drawing.minorticks_off()
    drawing.set_xlabel(over.key if all_named else f"{over.key} ({named(over.unit)})")


def _apart(rows: Rows, over: Axis, metric: str, drawing: Axes) -> None:
    """Write at each point of a line how far it is from the best, on the side that the line leaves free."""
    size, _ = scale(metric, [row.get(metric) for row in feasible(list(rows))])
    place = dict(zip(over.values, over.numbers or (), strict=True))
    able = sorted((row for row in feasible(list(rows)) if row.get(metric)), key=lambda row: place[row[over.key]])
    top = best(able, metric)
    heights = [row[metric] for row in able]
    for index, row in enumerate(able):
        assert top is not None
        falls = index > 0 and heights[index - 1] > heights[index]
        rises = index + 1 < len(able) and heights[index + 1] > heights[index]
        drawing.annotate(
            _said(row, top, metric),
            (place[row[over.key]], row[metric] / size),
            xytext=(5 * (falls - rises), -8 if falls and rises else 8),
            textcoords="offset points",
            ha="center" if falls == rises else "left" if falls else "right",
            va="top" if falls and rises else "bottom",
            fontsize=9,
            zorder=4,
        )
    drawing.margins(x=0.1, y=0.12)


def _said(row: Row, top: Row, metric: str) -> str:
    apart: Any = row[metric] / top[metric] - 1
    words = "best" if as_good(row, top, metric) else f"{apart:+.0%}" if abs(apart) >= 0.1 else f"{apart:+.1%}"
    return f"{words}, tight" if row["verdict"] == "tight" else words
