"""One drawing as a file, in the house style."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from simulator.errors import ScenarioError
from simulator.io.writing import write
from simulator.plots.file import content
from simulator.plots.fitting import fit
from simulator.plots.gallery import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FORMATS = (".png", ".svg", ".pdf")
SIZE = (9.0, 5.0)
"""Inches."""


def check(path: Path) -> None:
    """Refuse a name that says no format, before anything is computed."""
    if path.suffix.lower() not in FORMATS:
        raise ScenarioError(f"{path}: a drawing ends in {', '.join(FORMATS)}")


def save(draw: Callable[[Axes], object], path: Path, size: tuple[float, float] = SIZE) -> None:
    """Write what `draw` draws to a file that the user named."""
    write(path, drawn(draw, path.name, size))


def files(draw: Callable[[Axes], object], stem: str) -> Iterator[tuple[str, bytes]]:
    """Yield what `draw` draws as PNG and SVG: the name of the file and its content."""
    for suffix in (".png", ".svg"):
        yield f"{stem}{suffix}", drawn(draw, f"{stem}{suffix}")


def drawn(draw: Callable[[Axes], object], name: str, size: tuple[float, float] = SIZE) -> bytes:
    """Return what `draw` draws as the content of the file `name`, the same bytes every time."""
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    check(path := Path(name))
    with style():
        matplotlib.rcParams["svg.hashsalt"] = path.stem
        figure = Figure(figsize=size, layout="constrained")
        FigureCanvasAgg(figure)
        axes = figure.add_subplot()
        draw(axes)
        fit(axes)
        return content(figure, path.suffix.lower())
