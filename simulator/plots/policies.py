"""How policies fare: goodput or cost over what was varied, the best under each condition marked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from simulator.plots import colours, curves, what_if
from simulator.plots.captions import series
from simulator.studies.metrics import label, scale
from simulator.studies.trial import CONDITIONS
from simulator.studies.vary import Axis

if TYPE_CHECKING:
    from matplotlib.axes import Axes


MOST_LINES = 4
"""Curves of two policies; with more, a heat map shows better which pairs are good."""


def draw(rows: Sequence[dict[str, Any]], axes: Sequence[Axis], metric: str, drawing: Axes) -> Axes:
    """Draw curves over an axis of numbers, else what a sweep would draw, and ring the best policies."""
    varied = [axis for axis in axes if len(axis.values) > 1]
    numeric = [axis for axis in varied if axis.numbers is not None]
    policies = [axis for axis in numeric if not axis.key.startswith(CONDITIONS)]
    over = max(policies or numeric, key=lambda axis: len(axis.values), default=None)
    most = MOST_LINES if len(policies) == len(varied) else what_if.MOST_LINES
    if over is None or len(series(rows, varied, over)) > most:
        return what_if.draw(rows, axes, metric, drawing)
    curves.draw(rows, varied, over, metric, drawing)
    place = dict(zip(over.values, over.numbers or (), strict=True))
    size, _ = scale(metric, [row.get(metric) for row in rows])
    best = [row for row in rows if row["best"] and row.get(metric) is not None]
    drawing.plot(
        [place[row[over.key]] for row in best],
        [row[metric] / size for row in best],
        linestyle="none",
        marker="o",
        markersize=10,
        markerfacecolor="none",
        markeredgecolor=colours.VERMILLION,
        markeredgewidth=1.6,
        label="best",
    )
    drawing.legend()
    under = any(axis.key.startswith(CONDITIONS) for axis in varied)
    policy = f"{label(metric)} by policy"
    drawing.set_title(f"{policy[0].upper()}{policy[1:]}{', the best under each condition ringed' if under else ''}")
    return drawing
