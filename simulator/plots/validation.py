"""Predicted against measured, one colour and shape a family, on logarithmic axes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from simulator.errors import ScenarioError
from simulator.io.readable import percent
from simulator.io.writing import write
from simulator.plots import colours
from simulator.plots.file import content
from simulator.plots.gallery import style
from simulator.plots.marks import look
from simulator.plots.names import named

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from simulator.validation.lines import Line

SIZE = (8.4, 6.2)
FORMATS = (".png", ".svg", ".pdf")
BAND = 0.2
MOST_NAMED = 40
COLUMN = 28
"""Families that a column of the legend has room for."""


def draw(rows: Sequence[Line], axes: Axes) -> Axes:
    """Draw one point a row, the line where both agree, and a band of 20% around it; rows of one quantity."""
    points = [
        (line, line.measured, line.predicted) for line in rows if line.predicted and line.measured and line.scored
    ]
    axes.set_xscale("log")
    axes.set_yscale("log")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(lambda value, _: f"{value:g}")
    families = sorted({line.family for line, _, _ in points})
    for index, family in enumerate(families):
        of_family = [(measured, predicted) for line, measured, predicted in points if line.family == family]
        axes.plot(
            [measured for measured, _ in of_family],
            [predicted for _, predicted in of_family],
            linestyle="none",
            marker=look(index).mark,
            color=look(index).colour,
            markersize=3.5,
            markeredgewidth=0,
            alpha=0.7,
            label=named(family) if index < MOST_NAMED else None,
        )
    if points:
        _diagonal(axes, [value for _, measured, predicted in points for value in (measured, predicted)])
        axes.legend(
            loc="upper left",
            bbox_to_anchor=(1.0, 1.0),
            fontsize=8,
            markerscale=1.5,
            ncols=-(-min(len(families), MOST_NAMED) // COLUMN),
            title=f"the first {MOST_NAMED} of {len(families)} families" if len(families) > MOST_NAMED else None,
        )
        errors = [abs(predicted / measured - 1) for _, measured, predicted in points]
        axes.set_title(f"{len(points):,} rows, half of them within {percent(median(errors))}")
    unit = points[0][0].unit if points else ""
    axes.set_xlabel(f"measured ({unit})")
    axes.set_ylabel(f"predicted ({unit})")
    return axes


def save(rows: Sequence[Line], path: Path) -> None:
    """Write the drawing of the quantity with the most rows to `path`."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    if path.suffix.lower() not in FORMATS:
        raise ScenarioError(f"{path}: a drawing ends in {', '.join(FORMATS)}")
    with style():
        figure = Figure(figsize=SIZE, layout="constrained")
        FigureCanvasAgg(figure)
        draw(main_quantity(rows), figure.add_subplot())
        write(path, content(figure, path.suffix.lower()))


def main_quantity(rows: Sequence[Line]) -> list[Line]:
    """Return the lines of the suite and quantity that comes first among those with a number to compare."""
    able = [line for line in rows if line.error is not None and line.scored]
    order = {"step_time_s": 0, "mem_gb": 1}
    if not able:
        return []
    key = min(((line.suite, line.quantity) for line in able), key=lambda pair: (order.get(pair[1], 2), pair))
    return [line for line in able if (line.suite, line.quantity) == key]


def _diagonal(axes: Axes, values: Sequence[float]) -> None:
    ends = [min(values) / 1.3, max(values) * 1.3]
    axes.fill_between(
        ends,
        [(1 - BAND) * end for end in ends],
        [(1 + BAND) * end for end in ends],
        color=colours.FAINT,
        linewidth=0,
        zorder=0,
        label=f"within {BAND:.0%}",
    )
    axes.plot(ends, ends, color=colours.INK, linewidth=0.8, zorder=1)
    axes.set_xlim(*ends)
    axes.set_ylim(*ends)
    axes.set_aspect("equal")
