"""What fills the memory of each pipeline stage at its peak, beside what a GPU has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.io.readable import memory, percent
from simulator.outcome.results import STAGE_PARTS, Result
from simulator.plots import colours

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SIZE = (9.0, 4.0)
GIB = 2.0**30


def applies(result: Result) -> bool:
    return result.memory is not None


def draw(result: Result, axes: Axes) -> Axes:
    """Draw a stack of parts for each stage, and a line at the memory that can be used."""
    estimate = result.memory
    assert estimate is not None
    stages = estimate.stages
    bottom = [0.0] * len(stages)
    for part in STAGE_PARTS:
        heights = [stage[f"{part}_bytes"] / GIB for stage in stages]
        if max(heights) <= 0:
            continue
        axes.bar(
            range(len(stages)),
            heights,
            bottom=bottom,
            width=0.8,
            color=colours.MEMORY[part],
            edgecolor=colours.PAPER,
            linewidth=0.6,
            label=part,
        )
        bottom = [below + height for below, height in zip(bottom, heights, strict=True)]
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
    worst = estimate.worst_stage
    # The number goes into the bar where the line of what is usable passes just above it.
    inside = 0 <= usable - bottom[worst] < 0.1 * usable
    axes.annotate(
        memory(estimate.peak_bytes).removesuffix(" GiB"),
        (worst, bottom[worst]),
        xytext=(0, -4 if inside else 3),
        textcoords="offset points",
        ha="center",
        va="top" if inside else "bottom",
        fontsize=9,
        weight="bold",
        bbox={"facecolor": colours.PAPER, "edgecolor": "none", "pad": 1.0},
    )
    axes.set_xticks(range(len(stages)) if len(stages) <= 20 else range(0, len(stages), 4))
    axes.tick_params(axis="x", length=0)
    axes.set_ylim(0, 1.12 * max(usable, max(bottom)))
    axes.set_xlim(-0.6, max(len(stages) - 0.4, 3))
    axes.set_xlabel("pipeline stage")
    axes.set_ylabel("GiB on one GPU")
    axes.set_title(
        f"{memory(estimate.peak_bytes)} on stage {worst}, {percent(estimate.peak_bytes / estimate.usable_bytes)}"
        f" of what is usable"
    )
    handles, labels = axes.get_legend_handles_labels()
    axes.legend(handles[::-1], labels[::-1], loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return axes
