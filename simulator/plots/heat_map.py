"""A figure over two keys: a cell for each pair of values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from simulator.io.readable import digits
from simulator.plots import colours
from simulator.plots.captions import Rows, as_good, measure
from simulator.plots.names import named
from simulator.studies.metrics import larger_is_better, scale
from simulator.studies.sweep import best, feasible
from simulator.studies.vary import Axis

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTH = 560.0
"""Width of the cells together, in points."""
LETTER = 0.62
"""Width of a letter over its height, about."""
LARGEST, SMALLEST = 9.0, 4.0
"""Of letters, in points."""


def draw(rows: Rows, varied: Sequence[Axis], metric: str, drawing: Axes) -> Axes:
    """Draw each pair with its number, the darker the better; the best is framed, what cannot be run says why."""
    from matplotlib.patches import Rectangle

    down, across = varied
    able = [row for row in feasible(list(rows)) if row.get(metric) is not None]
    fits = {id(row) for row in able}
    size, unit = scale(metric, [row[metric] for row in able])
    top = best(able, metric)
    low, high = (pick((row[metric] for row in able), default=0.0) for pick in (min, max))
    said = {id(row): digits(row[metric] / size) if id(row) in fits else row["verdict"] or "never" for row in rows}
    letters = _letters(max(map(len, said.values()), default=1), len(across.values))
    for row in rows:
        y, x = down.values.index(row[down.key]), across.values.index(row[across.key])
        share = (row[metric] - low) / (high - low) if id(row) in fits and high > low else 0.0
        good = share if larger_is_better(metric) else 1 - share
        colour = colours.tint(colours.BLUE, 0.9 * (1 - good)) if id(row) in fits else colours.FAINT
        drawing.add_patch(Rectangle((x - 0.5, y - 0.5), 1, 1, facecolor=colour, edgecolor=colours.PAPER, linewidth=1.5))
        words = f"{said[id(row)]}\ntight" if id(row) in fits and row["verdict"] == "tight" else said[id(row)]
        drawing.text(x, y, words, ha="center", va="center", fontsize=letters, color=colours.on(colour))
        if id(row) in fits and as_good(row, top, metric):
            frame = Rectangle((x - 0.5, y - 0.5), 1, 1, fill=False, edgecolor=colours.VERMILLION, linewidth=2, zorder=3)
            frame.set_clip_on(False)
            drawing.add_patch(frame)
    drawing.set_xlim(-0.5, len(across.values) - 0.5)
    drawing.set_ylim(len(down.values) - 0.5, -0.5)
    _names(across, down, drawing)
    for side in drawing.spines.values():
        side.set_visible(False)
    title = measure(metric, unit)
    drawing.set_title(f"{title[0].upper()}{title[1:]}" + ("; the best is framed" if top is not None else ""))
    return drawing


def _names(across: Axis, down: Axis, drawing: Axes) -> None:
    """Name the values; those that would run into each other are slanted."""
    columns, lines = list(map(named, across.values)), list(map(named, down.values))
    slanted = max(map(len, columns)) * LETTER * LARGEST > WIDTH / len(columns)
    drawing.set_xticks(range(len(columns)), columns)
    if slanted:
        for name in drawing.get_xticklabels():
            name.set(rotation=30, ha="right", rotation_mode="anchor")
    drawing.set_yticks(range(len(lines)), lines)
    drawing.tick_params(length=0)
    drawing.set_xlabel(across.key)
    drawing.set_ylabel(down.key)


def _letters(longest: int, columns: int) -> float:
    """Return the size of letters with which the longest word stays in its cell."""
    return min(max(WIDTH / columns / (LETTER * (longest + 1)), SMALLEST), LARGEST)
