"""CSV from and to plain data: the names of the columns, and each row by them."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Mapping, Sequence
from io import StringIO
from math import isfinite
from typing import Any

from simulator.io.printable import printable

Cells = dict[str, str | None]
FORMULA = tuple("=+-@\t\r\n＝＋－＠")
"""What a spreadsheet takes for the beginning of a formula, in halfwidth and fullwidth letters."""
NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?", re.ASCII | re.IGNORECASE)


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


def written(columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> str:
    r"""Return the rows as CSV, numbers as exact as they are; what is unknown or infinite is empty.

    Text stays text in a spreadsheet: what would begin a formula there begins with a quote. Control characters but line
    breaks are escapes.

    >>> print(written(["a", "b"], [{"a": "=1+1", "b": -0.5}, {"a": "-3", "b": True}]), end="")
    a,b
    '=1+1,-0.5
    -3,true
    """
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(map(_cell, columns))
    writer.writerows([_cell(row.get(name)) for name in columns] for row in rows)
    return text.getvalue()


def _cell(value: Any) -> str:
    if value is None or (isinstance(value, float) and not isfinite(value)):
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return repr(value)
    text = str(value)
    quote = "'" if text.startswith(FORMULA) and not NUMBER.fullmatch(text) else ""
    return quote + printable(text, keep="\n")
