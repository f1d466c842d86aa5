"""How one figure answers to what a sweep varied: lines, bars or a heat map, by what the values are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from simulator.plots import bars, curves, heat_map
from simulator.plots.captions import Rows, series
from simulator.studies.vary import Axis

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_LINES = 8


def draw(rows: Rows, axes: Sequence[Axis], metric: str, drawing: Axes) -> Axes:
    """Draw lines over a key of numbers, a heat map over two keys, bars over words; what cannot be run is a gap."""
    varied = [axis for axis in axes if len(axis.values) > 1]
    several = len({row["scenario"] for row in rows}) > 1
    numeric = [axis for axis in varied if axis.numbers is not None]
    if len(varied) == 2 and not several and (len(numeric) != 1 or min(len(a.values) for a in varied) > MOST_LINES):
        return heat_map.draw(rows, varied, metric, drawing)
    over = max(numeric, key=lambda axis: len(axis.values), default=None)
    if over is not None and len(series(rows, varied, over)) <= MOST_LINES:
        return curves.draw(rows, varied, over, metric, drawing)
    return bars.draw(rows, varied, metric, drawing)
