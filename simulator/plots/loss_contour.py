"""The loss over parameters and tokens by one law, the line of best choices, and where the plan is."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from simulator.plots import colours
from simulator.plots.isoflop import budget, loss, loss_axis, power
from simulator.studies.plan.laws.base import FLOPS_PER_PARAMETER, Choice, Law

if TYPE_CHECKING:
    from matplotlib.axes import Axes

POINTS = 80
DECADES = 2.0
"""Around the plan, on each side."""


def draw(law: Law, choice: Choice, drawing: Axes) -> Axes:
    """Draw contours of the loss, budgets as dotted lines, and the best choice for every budget."""
    sizes = _around(choice.parameters)
    tokens = _around(choice.tokens)
    losses = [[loss(law, Choice(size, seen)) for size in sizes] for seen in tokens]
    # Scales first: labels of contours are cut into the lines as they lie now.
    drawing.set_xscale("log")
    drawing.set_yscale("log")
    drawing.set_xlim(sizes[0], sizes[-1])
    drawing.set_ylim(tokens[0], tokens[-1])
    lines = drawing.contour(sizes, tokens, losses, levels=16, colors=[colours.BLUE], linewidths=1)
    drawing.clabel(lines, fontsize=9, fmt="%.2f", inline_spacing=3)
    for decade in (-2, -1, 0, 1, 2):
        _budget(choice.flops * 10.0**decade, sizes, tokens, drawing)
    best = [law.optimum(choice.flops * 10 ** (DECADES * 2 * (2 * i / (POINTS - 1) - 1))) for i in range(POINTS)]
    inside = [one for one in best if one is not None]
    drawing.plot(
        [one.parameters for one in inside],
        [one.tokens for one in inside],
        color=colours.GREEN,
        linewidth=2,
        label="best for a budget",
    )
    drawing.plot([choice.parameters], [choice.tokens], "D", color=colours.VERMILLION, markersize=7, label="plan")
    drawing.plot([], [], linestyle=":", color=colours.DARK_GREY, linewidth=1, label="one budget of FLOPs")
    drawing.plot([], [], color=colours.BLUE, linewidth=1, label=f"one {loss_axis(law)}")
    for axis in (drawing.xaxis, drawing.yaxis):
        axis.set_major_formatter(lambda value, place: power(value))
    drawing.set_xlabel("parameters")
    drawing.set_ylabel("tokens")
    drawing.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=4, borderpad=0, columnspacing=1.2)
    drawing.set_title(f"Loss by {law.title}", pad=28)
    return drawing


def _budget(flops: float, sizes: list[float], tokens: list[float], drawing: Axes) -> None:
    """Draw the sizes and tokens that cost as much, with their cost where the line leaves on top or on the left."""
    each = FLOPS_PER_PARAMETER
    drawing.plot(sizes, [flops / (each * size) for size in sizes], linestyle=":", color=colours.DARK_GREY, linewidth=1)
    size = max(sizes[0], flops / (each * tokens[-1]))
    drawing.annotate(
        budget(flops),
        (size, flops / (each * size)),
        xytext=(6, -6),
        textcoords="offset points",
        fontsize=8,
        va="top",
        color=colours.DARK_GREY,
        bbox={"facecolor": colours.PAPER, "edgecolor": "none", "pad": 0.5, "alpha": 0.8},
    )


def _around(middle: float) -> list[float]:
    return [middle * math.pow(10, DECADES * (2 * i / (POINTS - 1) - 1)) for i in range(POINTS)]
