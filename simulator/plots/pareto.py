"""Layouts as points: how long a step takes against the memory that is left, with the front of those nobody beats."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from simulator.plots import colours
from simulator.studies.metrics import scale
from simulator.studies.ranking import CLOSE, front, ordered

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SLOWEST = 2.0
"""Layouts that take more than so many times as long as the best are left out, and counted below the axis."""
MARKS = {"fits": "o", "tight": "^"}


def draw(rows: Sequence[dict[str, Any]], drawing: Axes) -> Axes:
    """Draw every layout that can be run; what is close to the best lies in the shade."""
    order = ordered(rows)
    if not order:
        drawing.set_title("No layout fits")
        return drawing
    best = order[0]["step_time_s"]
    near = within(order)
    size, unit = scale("step_time_s", [row["step_time_s"] for row in near])
    shade = best / size, best * (1 + CLOSE) / size
    drawing.axvspan(*shade, color=colours.FAINT, label=f"within {CLOSE:.0%} of the best")
    for verdict, mark in MARKS.items():
        ones = [row for row in near if row["verdict"] == verdict]
        drawing.scatter(
            [row["step_time_s"] / size for row in ones],
            [row["headroom_bytes"] / 2**30 for row in ones],
            s=14,
            marker=mark,
            color=colours.VERDICT[verdict],
            alpha=0.55,
            linewidth=0,
            label=f"{verdict} ({len(ones):,})",
        )
    edge = front(near, lambda row: row["step_time_s"], lambda row: -row["headroom_bytes"])
    drawing.plot(
        [row["step_time_s"] / size for row in edge],
        [row["headroom_bytes"] / 2**30 for row in edge],
        color=colours.INK,
        linewidth=1,
        marker="o",
        markersize=3,
        drawstyle="steps-post",
        label="no other is faster with as much left",
    )
    drawing.scatter(
        [best / size],
        [order[0]["headroom_bytes"] / 2**30],
        s=90,
        facecolor="none",
        edgecolor=colours.VERMILLION,
        linewidth=1.6,
        zorder=3,
        label="the best",
    )
    cut = len(order) - len(near)
    slower = f"; {cut:,} more take over {SLOWEST:g} times as long" if cut else ""
    drawing.set_xlabel(f"step time ({unit}){slower}")
    drawing.set_ylabel("memory headroom (GiB)")
    drawing.legend(
        loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=5, borderpad=0, handletextpad=0.4, columnspacing=1.2
    )
    drawing.set_title(
        f"{len(order):,} of {len(rows):,} layouts fit; the best, {name_of(order[0])}, takes {best / size:.3g} {unit}",
        pad=30,
    )
    return drawing


def within(order: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the layouts that are drawn, of those in their order."""
    return [row for row in order if row["step_time_s"] <= SLOWEST * order[0]["step_time_s"]]


def name_of(row: dict[str, Any]) -> str:
    """Return a layout in a few words, as tables write it.

    >>> name_of({"tensor": 8, "pipeline": 16, "context": 1, "expert": 1, "data": 128, "chunks": 8})
    'TP8 PP16x8 DP128'
    """
    words = [f"TP{row['tensor']}", f"PP{row['pipeline']}" + (f"x{row['chunks']}" if row["chunks"] > 1 else "")]
    words += [f"CP{row['context']}"] if row["context"] > 1 else []
    words += [f"EP{row['expert']}"] if row["expert"] > 1 else []
    return " ".join([*words, f"DP{row['data']}"])
