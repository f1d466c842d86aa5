"""Lives of Titan's GPUs (Ostrouchov et al., SC20; olcf/TitanGPULife), and inventories kept in that form.

A row is a stay of one GPU, by its serial number, in one place: inserted, removed, and the event that ended it, such as
a double bit error (DBE) or a GPU off the bus (OTB); one that left or still runs without an event is censored. Where a
row sums up a whole GPU (``days`` instead of dates), ``dbe`` and ``otb`` count its events.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from simulator.errors import ScenarioError
from simulator.reliability.logs.base import Cells, FailureLog, Logged, moment, number
from simulator.units import Seconds

EVENTS = ("dbe", "otb")
NONE = ("", "na", "none", "false", "0")
DAY = 86400.0


class Titan(FailureLog):
    kind: ClassVar[str] = "titan"
    says: ClassVar[str] = "Titan's GPU lifetimes"
    competing: ClassVar[bool] = True

    @classmethod
    def knows(cls, columns: frozenset[str]) -> bool:
        stays = {"insert", "remove"} <= columns and "event" in columns
        return "sn" in columns and (stays or ("days" in columns and set(EVENTS) <= columns))

    @classmethod
    def rows(cls, place: str, row: Cells) -> Iterator[Logged]:
        if "insert" in row:
            began, ended = (moment(row[name], f"{place}: {name}") for name in ("insert", "remove"))
            event = row["event"].lower()
            events = () if event in NONE else (event,)
            yield from _life(place, row, _positive(ended - began, f"{place}: remove"), events, ended)
            return
        found = tuple(name for name in EVENTS if row[name].lower() not in NONE)
        life = _positive(DAY * number(row["days"], f"{place}: days"), f"{place}: days")
        yield from _life(place, row, life, found, None)


def _life(place: str, row: Cells, life: Seconds, events: tuple[str, ...], ended: Seconds | None) -> Iterator[Logged]:
    """Yield one life; of several events the first ends it, and the others are events without a life of their own."""
    host = row.get("location", "")
    for number_, event in enumerate(events or ("",)):
        yield Logged(
            place=place,
            cause=event,
            unit="gpu",
            time=ended if event else None,
            host=host,
            life=life if number_ == 0 else 0.0,
            ended=bool(event),
        )


def _positive(value: Seconds, place: str) -> Seconds:
    if value <= 0:
        raise ScenarioError(f"{place}: a life takes more than no time")
    return value
