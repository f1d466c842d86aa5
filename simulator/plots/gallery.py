"""The pictures of one result: which there are, each as a figure, as SVG text, and all as files.

A picture of a result is a module of this folder with a ``SIZE`` in inches, ``applies(result)``, which says whether
there is something to draw, and ``draw(result, axes)``, which draws it and returns the axes.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from io import StringIO
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from simulator.outcome.results import Result
from simulator.plots import colours
from simulator.plots.file import content
from simulator.plots.fitting import fit

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STYLE = Path(__file__).with_name("foretrain.mplstyle")


@cache
def pictures() -> dict[str, ModuleType]:
    """Return every picture of a result by name."""
    package = __name__.rpartition(".")[0]
    found = pkgutil.iter_modules([str(Path(__file__).parent)])
    modules = {module.name: importlib.import_module(f"{package}.{module.name}") for module in found}
    return {name: module for name, module in modules.items() if hasattr(module, "applies")}


@contextmanager
def style() -> Iterator[None]:
    """Draw in the house style, and leave the settings of the caller alone."""
    import matplotlib

    with matplotlib.rc_context(), _quiet_fonts():
        matplotlib.rcParams.update(matplotlib.rc_params_from_file(STYLE, use_default_template=True))
        yield


def figure(name: str, result: Result) -> Figure:
    """Return the picture `name` of `result`; call it inside ``style()``."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    module = pictures()[name]
    drawing = Figure(figsize=module.SIZE, layout="constrained")
    FigureCanvasAgg(drawing)
    fit(module.draw(result, drawing.add_subplot()))
    return drawing


def svg(name: str, result: Result) -> str:
    """Return the picture `name` as an ``<svg>`` element for a page, in the page's own ink."""
    import matplotlib

    text = StringIO()
    with style():
        matplotlib.rcParams["svg.hashsalt"] = name
        drawing = figure(name, result)
        drawing.savefig(text, format="svg", facecolor="none", metadata={"Date": None, "Creator": None})
    element = text.getvalue()
    element = element[element.index("<svg") :]
    element = re.sub(r"<metadata>.*?</metadata>", "", element, flags=re.DOTALL)
    element = re.sub(r'<g id="[^"]*">', "<g>", element)
    for ink, variable in ((colours.INK, "--ink"), (colours.PAPER, "--paper"), (colours.FAINT, "--faint")):
        element = re.sub(ink, f"var({variable}, {ink})", element, flags=re.IGNORECASE)
    return element


def files(result: Result) -> Iterator[tuple[str, bytes]]:
    """Yield every picture that applies, as PNG and SVG: the name of the file and its content."""
    import matplotlib

    for name, module in pictures().items():
        if not module.applies(result):
            continue
        with style():
            matplotlib.rcParams["svg.hashsalt"] = name
            drawing = figure(name, result)
            made = [(f"{name}{suffix}", content(drawing, suffix)) for suffix in (".png", ".svg")]
        yield from made


@contextmanager
def _quiet_fonts() -> Iterator[None]:
    """Fonts of the list that a machine lacks are no news, nor are letters of a name that no font has."""
    import logging
    import warnings

    logger = logging.getLogger("matplotlib.font_manager")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Glyph .* missing from font")
            yield
    finally:
        logger.setLevel(level)
