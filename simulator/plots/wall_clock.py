"""Where the wall clock of the whole run goes, besides training."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.io.readable import DAY, HOUR, digits, percent
from simulator.outcome.results import RUN_PARTS, Result
from simulator.plots import colours
from simulator.sums import added

if TYPE_CHECKING:
    from matplotlib.axes import Axes

GAP = "\u2003"
"""A wide space, which SVG keeps."""
SIZE = (9.0, 4.0)
UNITS = ((DAY, 0.5 * DAY, "days"), (HOUR, 0.5 * HOUR, "hours"), (60.0, 60.0, "minutes"), (1.0, -1.0, "seconds"))
"""Seconds, from how many on, and name of the units in which the longest part is told."""
FEWEST = 3
"""Rows that there is room for, so that one part is not a wall."""


def applies(result: Result) -> bool:
    return any(time > 0 for part, time in result.run.parts_s.items() if part != "train")


def draw(result: Result, axes: Axes) -> Axes:
    """Draw a strip for the whole run, and below it a bar for each part that is not training."""
    parts = {part: result.run.parts_s.get(part, 0.0) for part in RUN_PARTS}
    wall = added(parts.values())
    lost = sorted(
        ((part, time) for part, time in parts.items() if part != "train" and time > 0), key=lambda row: -row[1]
    )
    longest = max((time for _, time in lost), default=0.0)
    scale, unit = next((size, unit) for size, least, unit in UNITS if longest > least)
    for place, (part, time) in enumerate(lost):
        axes.barh(place, time / scale, height=0.68, color=colours.RUN[part], linewidth=0)
        axes.text(
            (time + 0.012 * longest) / scale,
            place,
            f"{digits(time / scale)} {unit}{GAP}{percent(time / wall)}",
            va="center",
            fontsize=9,
        )
    axes.set_yticks(range(len(lost)), [part for part, _ in lost])
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    room = max(FEWEST - len(lost), 0) / 2
    axes.set_ylim(len(lost) - 0.5 + room, -0.5 - room)
    axes.set_xlim(0, max(1.22 * longest / scale, 1e-9))
    axes.set_xlabel(f"{unit} of the mean run that are not training")
    axes.set_title(_title(parts["train"], wall), pad=34)
    _strip(axes, parts, wall)
    return axes


def _title(train: float, wall: float) -> str:
    scale, unit = (DAY, "days") if wall >= 2 * DAY else (HOUR, "hours")
    return f"{digits(train / scale)} of {digits(wall / scale)} {unit} train the model"


def _strip(axes: Axes, parts: dict[str, float], wall: float) -> None:
    """Draw the whole run above the bars, so that these are seen in proportion."""
    strip = axes.inset_axes((0.0, 1.03, 1.0, 0.075))
    left = 0.0
    for part, time in sorted(parts.items(), key=lambda row: (row[0] != "train", -row[1])):
        strip.barh(0, time / wall, left=left, color=colours.RUN[part], linewidth=0)
        left += time / wall
    train = parts["train"] / wall
    if train > 0.2:
        strip.text(
            train / 2,
            0,
            f"train {percent(train)}",
            ha="center",
            va="center",
            fontsize=9,
            color=colours.on(colours.RUN["train"]),
        )
    strip.set_xlim(0, 1)
    strip.set_ylim(-0.4, 0.4)
    strip.set_axis_off()
