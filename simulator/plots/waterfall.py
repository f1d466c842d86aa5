"""Where the FLOP/s of a GPU go, from the peak on its data sheet to what the model gets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.io.readable import convention, digits, percent
from simulator.outcome.results import Result
from simulator.plots import colours
from simulator.sums import added

if TYPE_CHECKING:
    from matplotlib.axes import Axes

GAP = "\u2003"
"""A wide space, which SVG keeps."""
SIZE = (9.0, 4.4)
COLOURS = {
    "peak": colours.FAINT,
    "delivered": colours.BLUE,
    "kernel efficiency": colours.DARK_GREY,
    "tensor parallelism": colours.STEP["tensor"],
    "context parallelism": colours.STEP["context"],
    "expert parallelism": colours.STEP["expert"],
    "pipeline transfers": colours.STEP["pipeline"],
    "pipeline bubble": colours.STEP["bubble"],
    "data parallelism": colours.STEP["data"],
    "stragglers": colours.STEP["straggler"],
    "data stalls": colours.STEP["stall"],
}
SMALL = 0.004
"""Causes that take a smaller share of the peak are drawn as one."""


def applies(result: Result) -> bool:
    return len(result.step.waterfall) >= 2


def draw(result: Result, axes: Axes) -> Axes:
    """Draw one bar for the peak, one for what each cause takes away, and one for what is left."""
    (_, peak), *causes, (_, delivered) = result.step.waterfall
    taken = _taken(causes, peak)
    rows = [("peak", 0.0, peak), *_floating(taken, peak), ("delivered", 0.0, delivered)]
    edges = [peak, *(left for _, left, _ in rows[1:-1]), delivered]
    for place, (name, left, width) in enumerate(rows):
        axes.barh(place, width / 1e12, left=left / 1e12, height=0.68, color=_colour(name), linewidth=0)
        whole = name in ("peak", "delivered")
        label = digits(width / 1e12) if whole else f"−{width / 1e12:.{0 if width >= 1e13 else 1}f}"
        weight = "bold" if whole else "normal"
        axes.text(
            (left + width + 0.012 * peak) / 1e12,
            place,
            f"{label}{GAP}{percent(width / peak)}",
            va="center",
            fontsize=9,
            weight=weight,
        )
        if place < len(rows) - 1:
            axes.plot([edges[place] / 1e12] * 2, [place - 0.34, place + 1.34], color=colours.GREY, linewidth=0.7)
    axes.set_yticks(range(len(rows)), [name for name, _, _ in rows])
    axes.tick_params(axis="y", length=0)
    axes.invert_yaxis()
    axes.spines["left"].set_visible(False)
    axes.set_xlim(0, 1.16 * peak / 1e12)
    axes.set_xlabel("TFLOP/s of one GPU, and share of the peak")
    counted = convention(result.step.mfu_convention)
    axes.set_title(f"{digits(delivered / 1e12)} of {digits(peak / 1e12)} TFLOP/s reach the model ({counted})")
    return axes


def _taken(causes: list[tuple[str, float]], peak: float) -> list[tuple[str, float]]:
    large = [(name, taken) for name, taken in causes if taken >= SMALL * peak and name != "other"]
    rest = added(taken for _, taken in causes) - added(taken for _, taken in large)
    return [*large, ("other", rest)] if rest > 1e-6 * peak else large


def _floating(taken: list[tuple[str, float]], peak: float) -> list[tuple[str, float, float]]:
    """Place each cause where the one before it ended."""
    rows, right = [], peak
    for name, width in taken:
        right -= width
        rows.append((name, right, width))
    return rows


def _colour(name: str) -> str:
    return COLOURS.get(name) or colours.STEP.get(name, colours.SLATE)
