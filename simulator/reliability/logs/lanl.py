"""Failures of Los Alamos' clusters, 1996 to 2005 (LA-UR-05-7318), and logs kept in that form.

A row is an outage of one node: when the problem started and was fixed, minutes of down time, and a column for each of
six root causes, of which the one that holds text is the cause. It is the node that fails, whatever the cause.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from simulator.errors import ScenarioError
from simulator.reliability.logs.base import Cells, FailureLog, Logged, moment, number

CAUSES = ("hardware", "software", "network", "facilities", "human error", "undetermined")
MINUTE = 60.0


class Lanl(FailureLog):
    kind: ClassVar[str] = "lanl"
    says: ClassVar[str] = "LANL's failure log"

    @classmethod
    def knows(cls, columns: frozenset[str]) -> bool:
        return "prob started" in columns and bool(columns & set(CAUSES))

    @classmethod
    def rows(cls, place: str, row: Cells) -> Iterator[Logged]:
        started = row["prob started"]
        if not started:
            raise ScenarioError(f"{place}: prob started: empty")
        time = moment(started, f"{place}: prob started")
        down, fixed = row.get("down time", ""), row.get("prob fixed", "")
        away = None
        if down:
            away = MINUTE * number(down, f"{place}: down time")
        elif fixed:
            away = max(moment(fixed, f"{place}: prob fixed") - time, 0.0)
        node = row.get("nodenum") or row.get("nodenumz") or ""
        system = row.get("system", "")
        named = [cause for cause in CAUSES if row.get(cause)]
        yield Logged(
            place=place,
            cause=named[0] if named else "undetermined",
            time=time,
            host=f"{system}/{node}" if system and node else node,
            away=away,
        )
