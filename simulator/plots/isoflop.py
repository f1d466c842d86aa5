"""IsoFLOP curves: the loss of every size at a few budgets, by one law, and where the plan is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.plots import colours
from simulator.studies.plan.laws.base import FLOPS_PER_PARAMETER, Choice, Law

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BUDGETS = (0.01, 0.1, 1.0, 10.0, 100.0)
"""Of the plan's own."""
POINTS = 120
SPREAD = 1.2
"""Decades of size on each side of a minimum."""


def draw(law: Law, choice: Choice, drawing: Axes) -> Axes:
    """Draw a curve for each budget, its minimum, and the choice."""
    for place, share in enumerate(BUDGETS):
        flops = share * choice.flops
        best = law.optimum(flops)
        assert best is not None
        sizes = [best.parameters * 10 ** (SPREAD * (2 * i / (POINTS - 1) - 1)) for i in range(POINTS)]
        losses = [loss(law, Choice(size, flops / (FLOPS_PER_PARAMETER * size))) for size in sizes]
        colour = colours.BLUE if share == 1 else colours.tint(colours.BLUE, 0.15 + 0.14 * abs(place - 2))
        drawing.plot(sizes, losses, color=colour, linewidth=2 if share == 1 else 1.2)
        drawing.plot([best.parameters], [loss(law, best)], "o", color=colour, markersize=4)
        drawing.annotate(f"{flops:.0e} FLOPs", (sizes[-1], losses[-1]), fontsize=8, va="center")
    drawing.plot([choice.parameters], [loss(law, choice)], "D", color=colours.VERMILLION, markersize=7, label="plan")
    drawing.set_xscale("log")
    drawing.xaxis.set_major_formatter(lambda value, place: power(value))
    drawing.set_xlabel("parameters")
    drawing.set_ylabel("loss")
    drawing.margins(x=0.12)
    drawing.legend()
    drawing.set_title(f"IsoFLOP curves, {law.title}")
    return drawing


def loss(law: Law, choice: Choice) -> float:
    """Return the loss of a law that has one."""
    value = law.loss(choice)
    assert value is not None, "only laws with a loss are drawn"
    return value


def power(value: float) -> str:
    """Return a tick of a logarithmic axis of counts.

    >>> power(1e8), power(1e12), power(1e4)
    ('100M', '1T', '10k')
    """
    names = ((1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "k"), (1.0, ""))
    return next((f"{value / size:,.3g}{name}" for size, name in names if value >= size), f"{value:.3g}")
