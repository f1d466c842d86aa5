"""CSV as plain data: the names of the columns, and each row by them."""

from __future__ import annotations

import csv
from io import StringIO

Cells = dict[str, str | None]


def table(text: str) -> tuple[list[str], list[Cells]]:
    """Return the header and the rows of `text`; ValueError names the line that is no row.

    >>> table("a,b\\n1,2\\n")
    (['a', 'b'], [{'a': '1', 'b': '2'}])
    """
    reader = csv.DictReader(StringIO(text, newline=None))
    try:
        return list(reader.fieldnames or ()), list(reader)
    except csv.Error as error:
        raise ValueError(f"line {reader.line_num}: not a CSV table: {error}") from None
