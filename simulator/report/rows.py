"""The rows of a study for other programs, as CSV."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from simulator.convert import plain_csv


def csv_text(rows: Sequence[Mapping[str, Any]], first: Iterable[str] = ()) -> str:
    """Return the rows as CSV, the columns of `first` in front."""
    return plain_csv.written(list(dict.fromkeys([*first, *(name for row in rows for name in row)])), rows)
