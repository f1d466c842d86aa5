"""Which columns of a table fit a terminal: those that come first, as long as there is room."""

from __future__ import annotations

from collections.abc import Sequence

from simulator.io.terminal import WIDTH

Column = tuple[str, Sequence[str]]
"""A head and the cells under it."""
GAP = 2
KEYS = 62
"""Width that the cells which say what a line is may take together; longer ones are broken."""


def fitting(
    heads: Sequence[str], lines: Sequence[Sequence[str]], wanted: Sequence[Column], last: Sequence[Column] = ()
) -> list[Column]:
    """Return the columns of `wanted` that fit beside `lines` under `heads` and the columns of `last`.

    >>> [head for head, _ in fitting(["key"], [["a" * 60]], [("one", ["1"]), ("two", ["2" * 14]), ("three", ["3"])])]
    ['one']
    """
    there = [(head, [line[place] for line in lines]) for place, head in enumerate(heads)]
    room = WIDTH - min(sum(map(_width, there)), KEYS) - sum(map(_width, last))
    kept = []
    for column in wanted:
        room -= _width(column)
        if room < 0:
            break
        kept.append(column)
    return kept


def _width(column: Column) -> int:
    head, cells = column
    return max(map(len, (head, *cells))) + GAP
