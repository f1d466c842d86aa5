"""How one figure answers to what a sweep varied: lines, bars or a heat map, by what the values are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from simulator.plots import colours
from simulator.readable import digits
from simulator.studies.metrics import label, larger_is_better, scale
from simulator.studies.sweep import best, feasible, names
from simulator.studies.vary import Axis

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_LINES = 8
MOST_TICKS = 12
BANDS = {"wall_clock_p50_s": ("wall_clock_p10_s", "wall_clock_p90_s"), "dollars_p50": ("dollars_p10", "dollars_p90")}
"""Percentiles around a median."""
Rows = Sequence[dict[str, Any]]


def draw(rows: Rows, axes: Sequence[Axis], metric: str, drawing: Axes) -> Axes:
    """Draw lines over a key of numbers, a heat map over two keys, bars over words; what cannot be run is a gap."""
    varied = [axis for axis in axes if len(axis.values) > 1]
    several = len({row["scenario"] for row in rows}) > 1
    numeric = [axis for axis in varied if axis.numbers is not None]
    if len(varied) == 2 and not several and (len(numeric) != 1 or min(len(a.values) for a in varied) > MOST_LINES):
        return heat_map(rows, varied, metric, drawing)
    over = max(numeric, key=lambda axis: len(axis.values), default=None)
    if over is not None and len(series(rows, varied, over)) <= MOST_LINES:
        return lines(rows, varied, over, metric, drawing)
    return bars(rows, varied, metric, drawing)


def series(rows: Rows, varied: Sequence[Axis], over: Axis) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of each line: all that is not `over` is what tells lines apart."""
    found: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        found.setdefault(caption(row, [axis for axis in varied if axis is not over], rows), []).append(row)
    return found


def caption(row: dict[str, Any], varied: Sequence[Axis], rows: Rows) -> str:
    short = names(varied)
    words = [f"{short[axis.key]} {row[axis.key]}" for axis in varied]
    if len({one["scenario"] for one in rows}) > 1:
        words.insert(0, row["scenario"])
    return ", ".join(words)


def lines(rows: Rows, varied: Sequence[Axis], over: Axis, metric: str, drawing: Axes) -> Axes:
    size, unit = scale(metric, [row.get(metric) for row in feasible(list(rows))])
    place = dict(zip(over.values, over.numbers or (), strict=True))
    found = series(rows, varied, over)
    for name, ones in found.items():
        able = [row for row in feasible(ones) if row.get(metric) is not None]
        able.sort(key=lambda row: place[row[over.key]])
        across = [place[row[over.key]] for row in able]
        (line,) = drawing.plot(across, [row[metric] / size for row in able], marker="o", markersize=4, label=name)
        if metric in BANDS and len(found) <= 3:
            low, high = BANDS[metric]
            drawing.fill_between(
                across,
                [row[low] / size for row in able],
                [row[high] / size for row in able],
                color=line.get_color(),
                alpha=0.15,
                linewidth=0,
            )
    numbers = over.numbers or ()
    if min(numbers) > 0 and max(numbers) / min(numbers) >= 8:
        drawing.set_xscale("log", base=2)
    if len(numbers) <= MOST_TICKS:
        drawing.set_xticks(numbers, over.values)
        drawing.minorticks_off()
    named = len(numbers) <= MOST_TICKS or not over.unit
    drawing.set_xlabel(over.key if named else f"{over.key} ({over.unit})")
    drawing.set_ylabel(_axis(metric, unit))
    drawing.grid(axis="y")
    if drawing.get_ylim()[0] > 0 and drawing.get_ylim()[0] < 0.6 * drawing.get_ylim()[1]:
        drawing.set_ylim(bottom=0)
    if len(found) > 1:
        drawing.legend()
    elif len(numbers) <= MOST_TICKS:
        _apart(rows, over, metric, drawing)
    return _titled(rows, varied, metric, drawing)


def _apart(rows: Rows, over: Axis, metric: str, drawing: Axes) -> None:
    """Write at each point of a line how far it is from the best."""
    size, _ = scale(metric, [row.get(metric) for row in feasible(list(rows))])
    place = dict(zip(over.values, over.numbers or (), strict=True))
    able = [row for row in feasible(list(rows)) if row.get(metric)]
    top = best(able, metric)
    for row in able:
        assert top is not None
        apart = row[metric] / top[metric] - 1
        words = "best" if _as_good(row, top, metric) else f"{apart:+.0%}" if abs(apart) >= 0.1 else f"{apart:+.1%}"
        where = (place[row[over.key]], row[metric] / size)
        paper = {"facecolor": colours.PAPER, "edgecolor": "none", "pad": 0.5}
        drawing.annotate(
            words, where, xytext=(0, 8), textcoords="offset points", ha="center", fontsize=9, bbox=paper, zorder=4
        )
    drawing.margins(x=0.08, y=0.12)


def _as_good(row: dict[str, Any], top: dict[str, Any] | None, metric: str) -> bool:
    return top is not None and row[metric] == top[metric] and row["verdict"] == top["verdict"]


def bars(rows: Rows, varied: Sequence[Axis], metric: str, drawing: Axes) -> Axes:
    """Draw one bar a point, in the order of the study."""
    ones = list(rows)[:40]
    able = {id(row) for row in feasible(ones) if row.get(metric) is not None}
    size, unit = scale(metric, [row[metric] for row in ones if id(row) in able])
    for place, row in enumerate(ones):
        if id(row) in able:
            drawing.barh(place, row[metric] / size, color=colours.BLUE, height=0.7)
            drawing.text(row[metric] / size, place, f" {digits(row[metric] / size)}", va="center", fontsize=9)
        else:
            drawing.text(0, place, f" {row['verdict'] or 'no progress'}", va="center", fontsize=9, color=colours.GREY)
    drawing.set_yticks(range(len(ones)), [caption(row, varied, rows) or row["scenario"] for row in ones])
    drawing.tick_params(axis="y", length=0)
    drawing.invert_yaxis()
    drawing.margins(x=0.12)
    drawing.set_xlabel(_axis(metric, unit))
    return _titled(rows, varied, metric, drawing)


def heat_map(rows: Rows, varied: Sequence[Axis], metric: str, drawing: Axes) -> Axes:
    """Draw a cell for each pair of values, with its number; the best is framed, what cannot be run says why."""
    from matplotlib.patches import Rectangle

    down, across = varied
    able = [row for row in feasible(list(rows)) if row.get(metric) is not None]
    size, unit = scale(metric, [row[metric] for row in able])
    top = best(able, metric)
    low, high = (pick((row[metric] for row in able), default=0.0) for pick in (min, max))
    for row in rows:
        y, x = down.values.index(row[down.key]), across.values.index(row[across.key])
        fits = any(row is one for one in able)
        share = (row[metric] - low) / (high - low) if fits and high > low else 0.0
        good = share if larger_is_better(metric) else 1 - share
        colour = colours.tint(colours.BLUE, 0.9 * (1 - good)) if fits else colours.FAINT
        drawing.add_patch(Rectangle((x - 0.5, y - 0.5), 1, 1, facecolor=colour, edgecolor=colours.PAPER, linewidth=1.5))
        words = digits(row[metric] / size) if fits else (row["verdict"] or "never")
        drawing.text(x, y, words, ha="center", va="center", fontsize=9, color=colours.on(colour))
        if fits and _as_good(row, top, metric):
            drawing.add_patch(
                Rectangle((x - 0.5, y - 0.5), 1, 1, fill=False, edgecolor=colours.VERMILLION, linewidth=2, zorder=3)
            )
    drawing.set_xlim(-0.5, len(across.values) - 0.5)
    drawing.set_ylim(len(down.values) - 0.5, -0.5)
    drawing.set_xticks(range(len(across.values)), across.values)
    drawing.set_yticks(range(len(down.values)), down.values)
    drawing.tick_params(length=0)
    for side in drawing.spines.values():
        side.set_visible(False)
    drawing.set_xlabel(across.key)
    drawing.set_ylabel(down.key)
    drawing.set_title(_axis(metric, unit))
    return drawing


def _axis(metric: str, unit: str) -> str:
    return f"{label(metric)} ({unit})" if unit else label(metric)


def _titled(rows: Rows, varied: Sequence[Axis], metric: str, drawing: Axes) -> Axes:
    top = best(list(rows), metric)
    if top is not None and varied:
        word = "Highest" if larger_is_better(metric) else "Lowest"
        drawing.set_title(f"{word} {label(metric)}: {caption(top, varied, rows)}")
    return drawing
