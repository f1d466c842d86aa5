"""Failures replayed from a log, in any format of `simulator.reliability.logs`.

In a log of our own, times and downtimes are seconds since the log began. Where a log has dates, it begins one mean time
between events before the first of them. Only rows of class `only` are replayed where that is given. After `length` (the
last event where left out) the log starts again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import count
from typing import ClassVar

from simulator.errors import ScenarioError
from simulator.reliability.failures.calendar import Calendar, Event
from simulator.reliability.logs import reading
from simulator.reliability.logs.base import Logged
from simulator.units import Seconds, whole


@dataclass(frozen=True, kw_only=True)
class Trace(Calendar):
    kind: ClassVar[str] = "trace"
    file_holds: ClassVar[str] = "log"
    """The field that whoever opens `file` fills with what it holds."""
    file: str = ""
    """The log; looked for beside the scenario."""
    log: str = field(default="", repr=False)
    """The log itself, where it is not in a file."""
    only: str | None = None
    """Class of failures that is replayed; all where left out."""
    length: Seconds | None = None
    """Seconds that the log covers."""

    def __post_init__(self) -> None:
        if not self.log:
            raise ScenarioError("a trace needs `file`, the name of a log of failures, or `log`, the log itself")

    def rate(self, units: int) -> float:
        rows, length = self._rows()
        return len(rows) / length if rows else 0.0

    @property
    def logged(self) -> tuple[Event, ...]:
        """The events of the log, once through."""
        return self._rows()[0]

    def events(self) -> Iterator[Event]:
        rows, length = self._rows()
        for turn in count() if rows else ():
            for row in rows:
                yield row._replace(time=row.time + turn * length)

    def _rows(self) -> tuple[tuple[Event, ...], Seconds]:
        rows = read(self.log, self.file or "log", self.only)
        length = self.length if self.length is not None else (rows[-1].time if rows else 0.0)
        if rows and (length <= 0 or length < rows[-1].time):
            raise ScenarioError(f"{self.file or 'log'}: the log is longer than its length of {length:g} s")
        return rows, length


@lru_cache(maxsize=8)
def read(text: str, name: str, only: str | None = None) -> tuple[Event, ...]:
    """Return the events of a log in order of time; `name` is what messages call it."""
    log = reading.read(text, name)
    rows = [row for row in log.rows if row.ended and (only is None or row.cause == only)]
    for row in rows:
        if row.time is None:
            raise ScenarioError(f"{row.place}: a trace needs the time of every failure")
    numbers = {host: number for number, host in enumerate(sorted({row.host for row in rows if row.host}))}
    zero = _beginning([row.time or 0.0 for row in rows]) if log.format.dated else 0.0
    events = [Event((row.time or 0.0) - zero, _host(row, numbers), row.away) for row in rows]
    return tuple(sorted(events, key=lambda event: event.time))


def _beginning(times: list[Seconds]) -> Seconds:
    """Return when a dated log begins: a mean gap before its first event, so that n gaps hold n events."""
    return min(times) - (max(times) - min(times)) / (len(times) - 1) if len(times) > 1 else 0.0


def _host(row: Logged, numbers: dict[str, int]) -> int | None:
    """Return a host as its number, or as the place of its name among all names."""
    if not row.host:
        return None
    number = whole(row.host)
    return numbers[row.host] if number is None else number
