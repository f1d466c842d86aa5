"""A log in our own words, for those who write one: events, or lives.

Events have ``time`` and, where known, ``cause`` (or ``class``), ``unit``, ``host`` and ``downtime``; times and
downtimes are seconds since the log began. Lives have ``cause``, ``lifetime`` (hours, or with a unit) and ``ended``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import ClassVar

from simulator import units
from simulator.errors import ScenarioError
from simulator.reliability.failures.base import UNITS
from simulator.reliability.logs.base import Cells, FailureLog, Logged, number
from simulator.units import Seconds

TRUE, FALSE = ("1", "true", "yes", "failed"), ("0", "false", "no", "running", "censored")


class Neutral(FailureLog):
    kind: ClassVar[str] = "neutral"
    says: ClassVar[str] = "columns cause and time, or cause, lifetime and ended"
    dated: ClassVar[bool] = False

    @classmethod
    def knows(cls, columns: frozenset[str]) -> bool:
        return bool({"time", "lifetime"} & columns)

    @classmethod
    def rows(cls, place: str, row: Cells) -> Iterator[Logged]:
        unit = row.get("unit") or "host"
        if unit not in UNITS:
            raise ScenarioError(f"{place}: unit: expected one of {', '.join(UNITS)}")
        lives = "lifetime" in row
        yield Logged(
            place=place,
            cause=(row.get("cause") or row.get("class") or "")[:80],
            unit=unit,
            time=number(row["time"], f"{place}: time") if row.get("time") else None,
            host=row.get("host", ""),
            away=number(row["downtime"], f"{place}: downtime") if row.get("downtime") else None,
            life=_duration(row["lifetime"], f"{place}: lifetime") if lives else None,
            ended=_flag(row.get("ended") or "1", place) if lives else True,
        )


def _duration(text: str, place: str) -> Seconds:
    """Return a duration; a bare number is hours."""
    try:
        value = float(text) * 3600.0
    except ValueError:
        try:
            value = units.parse(text, "s")
        except ValueError:
            raise ScenarioError(f"{place}: expected hours, or {units.EXPECTED['s']}") from None
    if not math.isfinite(value) or value <= 0:
        raise ScenarioError(f"{place}: expected more than zero")
    return value


def _flag(text: str, place: str) -> bool:
    if text.lower() in TRUE:
        return True
    if text.lower() in FALSE:
        return False
    raise ScenarioError(f"{place}: ended: expected 1 (it failed) or 0 (it was still running)")
