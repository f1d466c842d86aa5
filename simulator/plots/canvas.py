"""Writes one drawing to a file, in the house style."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from simulator.errors import ScenarioError
from simulator.plots.file import write
from simulator.plots.fitting import fit
from simulator.plots.gallery import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FORMATS = (".png", ".svg", ".pdf")


def check(path: Path) -> None:
    """Refuse a name that says no format, before anything is computed."""
    if path.suffix.lower() not in FORMATS:
        raise ScenarioError(f"{path}: a drawing ends in {', '.join(FORMATS)}")


def save(draw: Callable[[Axes], object], path: Path, size: tuple[float, float] = (9.0, 5.0)) -> None:
    """Write what `draw` draws to `path`, the same bytes every time."""
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    check(path)
    with style():
        matplotlib.rcParams["svg.hashsalt"] = path.stem
        figure = Figure(figsize=size, layout="constrained")
        FigureCanvasAgg(figure)
        axes = figure.add_subplot()
        draw(axes)
        fit(axes)
        dates = {".svg": {"Date": None, "Creator": None}, ".pdf": {"CreationDate": None}, ".png": {"Software": None}}
        write(figure, path, dates[path.suffix.lower()])
