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
        label = "best for its budget" if share == BUDGETS[0] else None
        drawing.plot([best.parameters], [loss(law, best)], "o", color=colour, markersize=4, label=label)
        drawing.annotate(
            budget(flops), (sizes[-1], losses[-1]), xytext=(5, 0), textcoords="offset points", fontsize=9, va="center"
        )
    drawing.plot([choice.parameters], [loss(law, choice)], "D", color=colours.VERMILLION, markersize=7, label="plan")
    drawing.set_xscale("log")
    drawing.xaxis.set_major_formatter(lambda value, place: power(value))
    drawing.set_xlabel("parameters")
    drawing.set_ylabel(loss_axis(law))
    drawing.margins(x=0.12)
    drawing.legend()
    drawing.set_title(f"IsoFLOP curves, {law.title}")
    return drawing


def loss(law: Law, choice: Choice) -> float:
    """Return the loss of a law that has one."""
    value = law.loss(choice)
    assert value is not None, "only laws with a loss are drawn"
    return value


def loss_axis(law: Law) -> str:
    """Return what an axis of the loss is called."""
    return f"loss ({law.loss_unit})" if law.loss_unit else "loss"


def budget(flops: float) -> str:
    """Return a budget as people write it.

    >>> budget(1e24), budget(3.2e21)
    ('1e24 FLOPs', '3.2e21 FLOPs')
    """
    return f"{flops:.2g} FLOPs".replace("e+", "e")


def power(value: float) -> str:
    """Return a tick of a logarithmic axis of counts.

    >>> power(1e8), power(1e12), power(1e4)
    ('100M', '1T', '10k')
    """
    names = ((1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "k"), (1.0, ""))
    return next((f"{value / size:,.3g}{name}" for size, name in names if value >= size), f"{value:.3g}")
