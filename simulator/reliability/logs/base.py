"""What a log of failures says, whatever its format: rows that are events, or lives that ended or still run.

Messages name the line and what belongs there, never what is there: who wrote the scenario that names a log need not be
allowed to read it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import ClassVar, NamedTuple

from simulator.errors import ScenarioError
from simulator.units import Count, Seconds

Cells = Mapping[str, str]
"""A row by the names of its columns, in lower case."""
DATES = ("%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%d", "%m/%d/%Y %H:%M", "%m/%d/%y %H:%M")


class Logged(NamedTuple):
    """A failure, or a life of units that may have ended in one."""

    place: str
    """File and line, for messages."""
    cause: str = ""
    unit: str = "host"
    time: Seconds | None = None
    """When it happened, since any moment that all rows share."""
    host: str = ""
    away: Seconds | None = None
    """How long the host was gone."""
    life: Seconds | None = None
    """How long the units were watched."""
    units: Count = 1
    """How many were watched together."""
    ended: bool = True
    """Whether one of them failed at the end; False where all still ran."""


class FailureLog(ABC):
    kind: ClassVar[str]
    says: ClassVar[str]
    """What reports call it."""
    dated: ClassVar[bool] = True
    """Whether times are dates; else they count from the start of the log."""
    competing: ClassVar[bool] = False
    """Whether any class could have ended a life, so that each life counts as watched for all classes of its unit; else
    a life is watched for its own class."""
    aged: ClassVar[bool] = True
    """Whether a life is that of the hardware, whose shape can be told, and not that of a job on it."""

    @classmethod
    @abstractmethod
    def knows(cls, columns: frozenset[str]) -> bool:
        """Return whether a file with these columns is in this format."""

    @classmethod
    @abstractmethod
    def rows(cls, place: str, row: Cells) -> Iterator[Logged]:
        """Yield what one row says; ScenarioError names the cell that is wrong."""


def moment(text: str, place: str) -> Seconds:
    """Return a date in seconds; the clock is taken as it is written.

    >>> moment("01/02/1970 01:00", "log.csv:2"), moment("1970-01-02T01:00:00", "log.csv:2")
    (90000.0, 90000.0)
    """
    for form in DATES:
        try:
            return (datetime.strptime(text, form) - datetime(1970, 1, 1)).total_seconds()
        except ValueError:
            continue
    raise ScenarioError(f"{place}: expected a date such as 2005-01-31 14:05 or 01/31/2005 14:05")


def number(text: str, place: str) -> float:
    """Return a number of zero or more."""
    try:
        value = float(text.replace(",", ""))
    except ValueError:
        value = -1.0
    if not 0 <= value < 1e15:
        raise ScenarioError(f"{place}: expected a number of zero or more")
    return value
