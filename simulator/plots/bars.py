"""A figure over keys of words: a bar a point."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from simulator.io.readable import digits
from simulator.plots import colours
from simulator.plots.captions import Rows, as_good, caption, measure, titled
from simulator.plots.names import named
from simulator.studies.metrics import scale
from simulator.studies.sweep import best, feasible
from simulator.studies.vary import Axis

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST = 40
"""Bars that there is room for."""
FEWEST = 3
"""Rows that share the height, so that one bar is not a wall."""
ROOM = 330.0
"""Height of the drawing in points, which the names share."""


def draw(rows: Rows, varied: Sequence[Axis], metric: str, drawing: Axes) -> Axes:
    """Draw one bar a point, in the order of the study, the best in blue; what cannot be run says why."""
    ones = list(rows)[:MOST]
    able = {id(row) for row in feasible(ones) if row.get(metric) is not None}
    size, unit = scale(metric, [row[metric] for row in ones if id(row) in able])
    top = best(list(rows), metric)
    words = min(9.0, ROOM / max(len(ones), 1))
    for place, row in enumerate(ones):
        if id(row) in able:
            colour = colours.BLUE if as_good(row, top, metric) else colours.PALE_BLUE
            drawing.barh(place, row[metric] / size, color=colour, height=0.7)
            tight = ", tight" if row["verdict"] == "tight" else ""
            drawing.text(
                row[metric] / size, place, f" {digits(row[metric] / size)}{tight}", va="center", fontsize=words
            )
        else:
            why = row["verdict"] or "no progress"
            drawing.text(0, place, f" {why}", va="center", fontsize=words, color=colours.DARK_GREY)
    # One key is named once, on the axis, and not at every bar.
    alone = varied[0] if len(varied) == 1 and len({row["scenario"] for row in rows}) == 1 else None
    names = [named(row[alone.key]) if alone else caption(row, varied, rows) or named(row["scenario"]) for row in ones]
    drawing.set_yticks(range(len(ones)), names, fontsize=words)
    if alone:
        drawing.set_ylabel(alone.key)
    drawing.tick_params(axis="y", length=0)
    room = max(FEWEST - len(ones), 0) / 2
    drawing.set_ylim(len(ones) - 0.5 + room, -0.5 - room)
    drawing.margins(x=0.12)
    cut = f"; the first {len(ones)} of {len(rows):,} points" if len(rows) > len(ones) else ""
    drawing.set_xlabel(measure(metric, unit) + cut)
    return titled(rows, varied, metric, drawing)
