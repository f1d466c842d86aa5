"""How far each uncertain input moves a figure: a bar from low to high around what is expected, the widest on top."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from simulator.plots import colours
from simulator.plots.captions import measure
from simulator.studies.metrics import scale, text
from simulator.studies.tornado import INPUTS, swings

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw(rows: Sequence[dict[str, Any]], metric: str, drawing: Axes) -> Axes:
    """Draw the swings of `metric`."""
    found = swings(rows, metric)
    expected = rows[0][metric]
    size, unit = scale(metric, [row.get(metric) for row in rows])
    for place, swing in enumerate(found):
        for times, value, colour in (
            (INPUTS[swing.name].low, swing.low, colours.ORANGE),
            (INPUTS[swing.name].high, swing.high, colours.BLUE),
        ):
            assert value is not None
            drawing.barh(place, (value - expected) / size, left=expected / size, height=0.6, color=colour, linewidth=0)
            side = "left" if value >= expected else "right"
            drawing.annotate(
                f"×{times:g}",
                (value / size, place),
                xytext=(4 if side == "left" else -4, 0),
                textcoords="offset points",
                ha=side,
                va="center",
                fontsize=9,
            )
    drawing.axvline(expected / size, color=colours.INK, linewidth=1)
    drawing.set_yticks(range(len(found)), [swing.name for swing in found])
    drawing.tick_params(axis="y", length=0)
    drawing.invert_yaxis()
    drawing.margins(x=0.12)
    drawing.set_xlabel(measure(metric, unit))
    most = f"{found[0].name} moves it most" if found else "no input moves it"
    drawing.set_title(f"{text(metric, expected)} expected; {most}")
    return drawing
