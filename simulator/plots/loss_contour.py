"""The loss over parameters and tokens by one law, the line of best choices, and where the plan is."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from simulator.plots import colours
from simulator.plots.isoflop import loss, power
from simulator.studies.plan.laws.base import Choice, Law

if TYPE_CHECKING:
    from matplotlib.axes import Axes

POINTS = 80
DECADES = 2.0
"""Around the plan, on each side."""


def draw(law: Law, choice: Choice, drawing: Axes) -> Axes:
    """Draw contours of the loss, budgets as dashed lines, and the best choice for every budget."""
    sizes = _around(choice.parameters)
    tokens = _around(choice.tokens)
    losses = [[loss(law, Choice(size, seen)) for size in sizes] for seen in tokens]
    lines = drawing.contour(sizes, tokens, losses, levels=16, colors=[colours.BLUE], linewidths=1)
    drawing.clabel(lines, fontsize=8, fmt="%.2f", inline_spacing=2)
    for decade in (-2, -1, 0, 1, 2):
        flops = choice.flops * 10.0**decade
        drawing.plot(sizes, [flops / (6 * size) for size in sizes], linestyle=":", color=colours.GREY, linewidth=1)
    best = [law.optimum(choice.flops * 10 ** (DECADES * 2 * (2 * i / (POINTS - 1) - 1))) for i in range(POINTS)]
    inside = [one for one in best if one is not None]
    drawing.plot(
        [one.parameters for one in inside],
        [one.tokens for one in inside],
        color=colours.GREEN,
        label="best for a budget",
    )
    drawing.plot([choice.parameters], [choice.tokens], "D", color=colours.VERMILLION, markersize=7, label="plan")
    drawing.set_xscale("log")
    drawing.set_yscale("log")
    for axis in (drawing.xaxis, drawing.yaxis):
        axis.set_major_formatter(lambda value, place: power(value))
    drawing.set_xlim(sizes[0], sizes[-1])
    drawing.set_ylim(tokens[0], tokens[-1])
    drawing.set_xlabel("parameters")
    drawing.set_ylabel("tokens")
    drawing.legend(loc="lower right")
    drawing.set_title(f"Loss by {law.title}; dotted lines are budgets")
    return drawing


def _around(middle: float) -> list[float]:
    return [middle * math.pow(10, DECADES * (2 * i / (POINTS - 1) - 1)) for i in range(POINTS)]
