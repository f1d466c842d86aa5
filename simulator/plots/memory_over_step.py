"""How the memory of the fullest stage rises and falls over one step, beside what a GPU has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.io.readable import duration, memory
from simulator.outcome.results import STAGE_PARTS, Level, Result
from simulator.plots import colours
from simulator.units import Seconds, Share

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SIZE = (9.0, 3.6)
GIB = 2.0**30
EDGE = 0.03
"""Share of the width within which a number would run over an edge."""
MOVING = ("activations", "logits", "update")
"""Parts that come and go; the others stay all step long."""


def applies(result: Result) -> bool:
    return result.memory is not None and any(result.occupancy)


def draw(result: Result, axes: Axes) -> Axes:
    """Draw what stays as bands and what moves on top of them, the peak, and a line at the memory that can be used."""
    estimate = result.memory
    assert estimate is not None
    stage = estimate.worst_stage
    levels, parts = result.occupancy[stage], estimate.stages[stage]
    end = max([levels[-1].time_s, *(span.start + span.duration for span in result.spans)])
    scale, unit = (1e3, "ms") if end < 1.0 else (1.0, "s")
    base = _bands(axes, parts, end * scale)
    overhead = parts["overhead_bytes"]
    times = [level.time_s * scale for level in levels] + [end * scale]
    heights = [(level.nbytes + overhead) / GIB for level in levels]
    heights.append(heights[-1])
    axes.fill_between(
        times,
        [base] * len(times),
        [max(height, base) for height in heights],
        step="post",
        color=colours.MEMORY["activations"],
        linewidth=0,
        label=" and ".join(part for part in MOVING if parts[f"{part}_bytes"] > 0),
    )
    usable = estimate.usable_bytes / GIB
    axes.axhline(usable, color=colours.INK, linewidth=1.2)
    axes.annotate(
        f"usable {memory(estimate.usable_bytes)}",
        (1, usable),
        xycoords=("axes fraction", "data"),
        xytext=(0, 3),
        textcoords="offset points",
        ha="right",
        va="bottom",
        fontsize=9,
    )
    moment, top = peak(levels)
    axes.set_xlim(0, end * scale)
    axes.set_ylim(0, 1.15 * max(usable, *heights))
    _mark(axes, moment / end, (top + overhead) / GIB, memory(top + overhead), usable)
    axes.set_xlabel(f"time in the step ({unit})")
    axes.set_ylabel("GiB on one GPU")
    when = f"{duration(moment)} into the step" if moment > 0 else "as the step begins"
    who = f"Stage {stage} needs the most" if len(estimate.stages) > 1 else "Memory is fullest"
    axes.set_title(f"{who}, {memory(top + overhead)}, {when}")
    handles, labels = axes.get_legend_handles_labels()
    axes.legend(handles[::-1], labels[::-1], loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return axes


def peak(levels: tuple[Level, ...]) -> tuple[Seconds, float]:
    """Return when most is allocated, for the first time, and how much.

    >>> peak((Level(0.0, 1.0), Level(2.0, 7.0), Level(3.0, 7.0)))
    (2.0, 7.0)
    """
    highest = max(levels, key=lambda level: level.nbytes)
    return highest.time_s, highest.nbytes


def _bands(axes: Axes, parts: dict[str, float], end: float) -> float:
    """Draw the parts that stay, and return how high they reach."""
    base = 0.0
    for part in STAGE_PARTS:
        height = parts[f"{part}_bytes"] / GIB
        if part in MOVING or height <= 0:
            continue
        axes.fill_between(
            [0, end], [base] * 2, [base + height] * 2, color=colours.MEMORY[part], linewidth=0, label=part
        )
        base += height
    return base


def _mark(axes: Axes, moment: Share, height: float, text: str, usable: float) -> None:
    """Mark the peak; its number goes below where the line of what is usable passes above, and stays off the edges."""
    below = 0 <= usable - height < 0.1 * usable
    at = moment * axes.get_xlim()[1]
    axes.plot([at], [height], marker="o", markersize=5, color=colours.INK, clip_on=False)
    axes.annotate(
        text.removesuffix(" GiB"),
        (at, height),
        xytext=(0, -7 if below else 4),
        textcoords="offset points",
        ha="left" if moment < EDGE else "right" if moment > 1 - EDGE else "center",
        va="top" if below else "bottom",
        fontsize=9,
        weight="bold",
        bbox={"facecolor": colours.PAPER, "edgecolor": "none", "pad": 1.0},
    )
