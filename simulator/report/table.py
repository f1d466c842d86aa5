"""A table for a terminal: columns without lines, numbers to the right, 80 columns at most."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from simulator.report.text import WIDTH, plain

if TYPE_CHECKING:
    from rich.console import Console

NUMBER = re.compile(r"[-−<~$]?[\d.,]+\s?\S{0,8}|")


def write(head: Sequence[str], rows: Sequence[Sequence[str]], console: Console | None = None) -> str:
    """Return `rows` under `head`; the last column takes what room is left and wraps."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = console or Console(width=WIDTH, no_color=True, color_system=None, force_terminal=False)
    console.width = min(console.width, WIDTH)
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold")
    for place, name in enumerate(head):
        right = bool(rows) and all(NUMBER.fullmatch(row[place]) for row in rows)
        table.add_column(name, justify="right" if right else "left", overflow="fold", no_wrap=place == 0)
    for row in rows:
        table.add_row(*(Text(plain(cell)) for cell in row))
    with console.capture() as captured:
        console.print(table, highlight=False, emoji=False, markup=False)
    return "\n".join(line.rstrip() for line in captured.get().splitlines()) + "\n"
