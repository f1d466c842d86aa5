"""What a terminal shows: words that mean themselves and tables without lines, in 80 columns."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from io import StringIO
from typing import TYPE_CHECKING

from simulator.io.printable import Page, printable

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table
    from rich.text import Text

WIDTH = 80
NUMBER = re.compile(r"[-−<~$]?[\d.,]+\s?\S{0,8}|")
WHOLE = 36
"""Width up to which the cells of the first column are not broken."""


def page(blocks: Iterable[RenderableType], console: Console | None = None) -> Page:
    """Return blocks below one another, with the colours that `console` shows; plain without one.

    A block that is a str is text with line breaks: nothing in it is markup, and no control character leaves it.
    """
    console = console or plain_console()
    console.width = min(console.width, WIDTH)
    console.file = text = StringIO()  # the console says how it looks; what it writes to may be full
    for block in blocks:
        shown = words(block, keep="\n") if isinstance(block, str) else block
        console.print(shown, highlight=False, emoji=False, markup=False)
    return Page("\n".join(line.rstrip() for line in text.getvalue().splitlines()) + "\n")


def plain_console() -> Console:
    """Return a console of 80 columns without colours."""
    from rich.console import Console

    return Console(width=WIDTH, no_color=True, color_system=None, force_terminal=False)


def words(text: str, style: str = "", keep: str = "") -> Text:
    """Return text that means itself, without markup and control characters."""
    from rich.text import Text

    return Text(printable(text, keep), style=style)


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    """Return `rows` under `head`: numbers to the right; what is too long for its column wraps."""
    from rich.table import Table

    drawn = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold")
    for place, name in enumerate(head):
        cells = [row[place] for row in rows]
        right = bool(rows) and all(map(NUMBER.fullmatch, cells))
        whole = place == 0 and max(map(len, (name, *cells))) <= WHOLE
        drawn.add_column(words(name), justify="right" if right else "left", overflow="fold", no_wrap=whole)
    for row in rows:
        drawn.add_row(*map(words, row))
    return drawn
