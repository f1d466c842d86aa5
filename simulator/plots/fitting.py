"""Titles and labels that stay in their picture."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Text

SHORT = 0.55
"""Share of the picture's width up to which words stay inside wherever they begin."""


def fit(axes: Axes) -> None:
    """Break a title or a label below the axis that would leave the picture; what is drawn makes room."""
    from matplotlib.text import Text

    figure = axes.figure.get_figure(root=True)
    assert figure is not None
    said = axes.get_title(loc="left")
    titles = [one for one in axes.get_children() if isinstance(one, Text) and one.get_text() == said and said]
    long = [one for one in (*titles, axes.xaxis.label) if _width(one) > SHORT * figure.bbox.width]
    if long:
        figure.draw_without_rendering()
    for words in long:
        _break(words, figure)


def _break(words: Text, figure: Figure) -> None:
    extent = words.get_window_extent()
    over = max(extent.x1 - figure.bbox.x1, figure.bbox.x0 - extent.x0)
    if over > 0:
        # Words in the middle are too long on both sides.
        room = extent.width - (2 * over if words.get_horizontalalignment() == "center" else over)
        said = words.get_text()
        words.set_text("\n".join(wrap(said, max(int(0.95 * len(said) * room / extent.width), 20))))


def _width(words: Text) -> float:
    return words.get_window_extent().width
