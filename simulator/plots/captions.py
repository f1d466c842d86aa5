"""What drawings of a study call their points, lines and axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from simulator.plots.names import named
from simulator.studies.metrics import label, larger_is_better
from simulator.studies.sweep import best, names
from simulator.studies.vary import Axis

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Row = dict[str, Any]
Rows = Sequence[Row]


def series(rows: Rows, varied: Sequence[Axis], over: Axis) -> dict[str, list[Row]]:
    """Return the rows of each line: all that is not `over` is what tells lines apart."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(caption(row, [axis for axis in varied if axis is not over], rows), []).append(row)
    return found


def caption(row: Row, varied: Sequence[Axis], rows: Rows) -> str:
    """Return what tells `row` apart from the others."""
    short = names(varied)
    words = [named(f"{short[axis.key]} {row[axis.key]}") for axis in varied]
    if len({one["scenario"] for one in rows}) > 1:
        words.insert(0, named(row["scenario"]))
    return ", ".join(words)


def measure(metric: str, unit: str) -> str:
    """Return a figure with its unit, as an axis has it.

    >>> measure("step_time_s", "s"), measure("dollars_p50", "$M")
    ('step time (s)', 'cost (P50, $M)')
    """
    words = label(metric)
    if not unit:
        return words
    return f"{words[:-1]}, {unit})" if words.endswith(")") else f"{words} ({unit})"


def titled(rows: Rows, varied: Sequence[Axis], metric: str, drawing: Axes) -> Axes:
    """Say in the title where the best point is."""
    top = best(list(rows), metric)
    if top is not None and varied:
        word = "Highest" if larger_is_better(metric) else "Lowest"
        drawing.set_title(f"{word} {label(metric)}: {caption(top, varied, rows)}")
    return drawing


def as_good(row: Row, top: Row | None, metric: str) -> bool:
    """Tell whether `row` is the best point or another of the same figure."""
    return top is not None and row[metric] == top[metric] and row["verdict"] == top["verdict"]
