"""The roofline of a machine with what was measured, and the datasheet's where there is one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.io.readable import digits
from simulator.lab.roofline import Roofline
from simulator.plots import colours

if TYPE_CHECKING:
    from matplotlib.axes import Axes

POINTS = 200


def draw(measured: Roofline, sheet: tuple[float, float] | None, drawing: Axes) -> Axes:
    """Draw points and roof; `sheet` is peak and bandwidth of the datasheet."""
    dtype = max(measured.peak, key=measured.peak.__getitem__)
    low, high = 0.05, max(point.intensity for point in measured.points) * 2
    across = [low * (high / low) ** (i / (POINTS - 1)) for i in range(POINTS)]
    roof = [measured.attainable(intensity, dtype) / 1e9 for intensity in across]
    drawing.plot(across, roof, color=colours.BLUE, linewidth=2, label="measured roof")
    if sheet is not None:
        peak, bandwidth = sheet
        drawing.plot(
            across,
            [min(peak, intensity * bandwidth) / 1e9 for intensity in across],
            color=colours.GREY,
            linestyle="--",
            label="datasheet",
        )
    for kind, colour, mark, label in (
        ("product", colours.GREEN, "o", "matrix products"),
        ("sum", colours.ORANGE, "s", "sums of vectors; above the roof, those in a cache"),
    ):
        ones = [point for point in measured.points if point.kind == kind]
        drawing.plot(
            [point.intensity for point in ones],
            [point.rate / 1e9 for point in ones],
            mark,
            color=colour,
            markersize=5,
            label=label,
        )
    ridge = measured.ridge(dtype)
    drawing.axvline(ridge, color=colours.PALE_GREY, linewidth=1)
    drawing.annotate(f" ridge {digits(ridge)} FLOP/B", (ridge, min(roof)), fontsize=9)
    drawing.set_xscale("log")
    drawing.set_yscale("log")
    for axis in (drawing.xaxis, drawing.yaxis):
        axis.set_major_formatter(lambda value, place: f"{value:g}")
    drawing.set_xlabel("FLOPs a byte")
    drawing.set_ylabel("GFLOP/s")
    drawing.legend()
    drawing.set_title(f"Roofline of this machine ({measured.backend}, {dtype})")
    return drawing
