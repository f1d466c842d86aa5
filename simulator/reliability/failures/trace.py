"""Failures replayed from a log: a CSV with the columns ``time`` and, where known, ``host``, ``class`` and ``downtime``.

Times and downtimes are seconds since the first second of the log. Only rows of class `only` are replayed
where that is given. After `length` (the last event where left out) the log starts again.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import count
from pathlib import Path
from typing import ClassVar

from simulator.errors import ScenarioError
from simulator.reliability.failures.calendar import Calendar, Event
from simulator.units import Seconds


@dataclass(frozen=True, kw_only=True)
class Trace(Calendar):
    kind: ClassVar[str] = "trace"
    file: str
    """The CSV; the reader of scenarios resolves it from the scenario's folder."""
    only: str | None = None
    length: Seconds | None = None
    """Seconds that the log covers."""

    def rate(self, units: int) -> float:
        rows, length = self._rows()
        return len(rows) / length if rows else 0.0

    def events(self) -> Iterator[Event]:
        rows, length = self._rows()
        for turn in count() if rows else ():
            for row in rows:
                yield row._replace(time=row.time + turn * length)

    def _rows(self) -> tuple[tuple[Event, ...], Seconds]:
        rows = read(self.file, self.only)
        length = self.length if self.length is not None else (rows[-1].time if rows else 0.0)
        if rows and (length <= 0 or length < rows[-1].time):
            raise ScenarioError(f"{self.file}: the log is longer than its length of {length:g} s")
        return rows, length


@cache
def read(file: str, only: str | None = None) -> tuple[Event, ...]:
    """Return the events of a log in order of time."""
    try:
        with Path(file).open(newline="", encoding="utf-8") as text:
            rows = [row for row in csv.DictReader(text) if only is None or row.get("class") == only]
        events = [
            Event(
                float(row["time"]),
                int(row["host"]) if row.get("host") else None,
                float(row["downtime"]) if row.get("downtime") else None,
            )
            for row in rows
        ]
    except (OSError, KeyError, ValueError, UnicodeDecodeError, csv.Error) as error:
        raise ScenarioError(
            f"{file}: a trace needs the columns time[, host][, class][, downtime] in seconds: {error}"
        ) from error
    if any(event.time < 0 for event in events):
        raise ScenarioError(f"{file}: a trace has no time before 0")
    return tuple(sorted(events, key=lambda event: event.time))
