"""The rows of a study for other programs: CSV and JSON."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Mapping, Sequence
from io import StringIO
from math import isfinite
from typing import Any


def csv_text(rows: Sequence[Mapping[str, Any]], first: Iterable[str] = ()) -> str:
    """Return the rows as CSV, numbers as exact as they are, those of `first` in front."""
    columns = list(dict.fromkeys([*first, *(name for row in rows for name in row)]))
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([_cell(row.get(name)) for name in columns] for row in rows)
    return text.getvalue()


def json_text(content: Mapping[str, Any]) -> str:
    """Return the JSON of a study; what is infinite or unknown is null."""
    return json.dumps(_plain(content), indent=2, allow_nan=False, ensure_ascii=False) + "\n"


def _cell(value: Any) -> str:
    if value is None or (isinstance(value, float) and not isfinite(value)):
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    return repr(value) if isinstance(value, float) else str(value)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(name): _plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return None if isinstance(value, float) and not isfinite(value) else value
