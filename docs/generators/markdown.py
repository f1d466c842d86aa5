"""Tables, anchors and cells of Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence


def table(head: Sequence[str], rows: Iterable[Sequence[str]], right: Iterable[int] = ()) -> str:
    """Return a table; the columns numbered in `right` are aligned to the right."""
    numbers = set(right)
    rule = "|".join("---:" if column in numbers else "---" for column in range(len(head)))
    lines = [_line(head), f"|{rule}|", *(_line(row) for row in rows)]
    return "\n".join(lines) + "\n"


def cell(text: object) -> str:
    """Return `text` on one line, safe inside a table."""
    return re.sub(r"(?<!\\)\|", r"\\|", " ".join(str(text or "").split()))


def anchor(heading: str) -> str:
    """Return where a link to `heading` leads, as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cell(text) for text in cells)} |"
