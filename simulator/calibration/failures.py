"""Rates of failures by class from a user's own log, and the preset that a scenario can name.

A log is either events (columns ``time`` and ``cause``: each row stopped a job on so many hosts for so long), or lives
(``lifetime``, ``ended``: how long each unit was watched, and whether it failed then or was still running, which is what
statisticians call censored). Either way the rate of a class is its count over the exposure of all its units.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import StringIO

import yaml

from simulator import units
from simulator.errors import ScenarioError
from simulator.reliability import estimate
from simulator.reliability.failures.base import UNITS
from simulator.units import Count, Number, Seconds

MOST_ROWS = 1_000_000
FEWEST_FOR_A_SHAPE = 10
TRUE, FALSE = ("1", "true", "yes", "failed"), ("0", "false", "no", "running", "censored")


@dataclass(frozen=True, kw_only=True)
class Watched:
    """The fleet that was watched, and for how long."""

    gpus: Count
    hosts: Count
    nics: Count
    wall: Seconds | None = None
    """Needed for events; lives bring their own time."""

    def units_of(self, unit: str) -> int:
        return {"gpu": self.gpus, "host": self.hosts, "nic": self.nics, "link": self.nics, "job": 1}.get(
            unit, self.hosts
        )


@dataclass(frozen=True, kw_only=True)
class Class:
    """What was learned about one class of failures."""

    name: str
    unit: str
    units: Count
    count: Count
    exposure: Seconds
    """Of all units together."""
    rate: estimate.Estimate
    """Failures of one unit a second, with a 90% interval."""
    shape: Number | None = None
    """Weibull shape, where there are lives enough; 1 is without memory."""


def parse(text: str, name: str, watched: Watched) -> tuple[Class, ...]:
    """Return the classes in a CSV, the most frequent first; ScenarioError names the line that is wrong."""
    reader = csv.DictReader(StringIO(text))
    columns = {column.strip().lower(): column for column in reader.fieldnames or () if column}
    if "cause" not in columns or not {"time", "lifetime"} & columns.keys():
        raise ScenarioError(f"{name}:1: a log of failures has columns cause and time, or cause, lifetime and ended")
    rows: list[tuple[str, dict[str, str]]] = []
    for line, row in enumerate(reader, start=2):
        if len(rows) >= MOST_ROWS:
            raise ScenarioError(f"{name}: more than {MOST_ROWS:,} rows")
        rows.append((f"{name}:{line}", {key: (row.get(column) or "").strip() for key, column in columns.items()}))
    if not rows:
        raise ScenarioError(f"{name}: no rows")
    found = _of_lives(rows, watched) if "lifetime" in columns else _of_events(rows, watched, name)
    return tuple(sorted(found, key=lambda one: (-one.count, one.name)))


def preset(classes: Sequence[Class], watched: Watched, source: str) -> str:
    """Return the catalog entry of these rates: counts over the units and the wall clock of the fleet."""
    wall = watched.wall or max(one.exposure / one.units for one in classes)
    counted = [
        {
            "name": one.name,
            "unit": one.unit,
            "units": one.units,
            "count": float(f"{one.rate.value * one.units * wall:.6g}"),
        }
        for one in classes
    ]
    entry = {
        "source": source,
        "gpus": watched.gpus,
        "hosts": watched.hosts,
        "wall": units.render(wall, "s"),
        "uptime": "100%",
        "counted": counted,
    }
    return yaml.safe_dump(entry, sort_keys=False, default_flow_style=None, width=110)


def _of_events(rows: Sequence[tuple[str, Mapping[str, str]]], watched: Watched, name: str) -> list[Class]:
    if watched.wall is None:
        raise ScenarioError(f"{name}: a log of events needs the time that was watched; give --wall, such as 54d")
    counts: dict[tuple[str, str], int] = {}
    for place, row in rows:
        key = _named(row, place)
        counts[key] = counts.get(key, 0) + 1
    return [
        _class(cause, unit, count, watched.units_of(unit), watched.units_of(unit) * watched.wall)
        for (cause, unit), count in counts.items()
    ]


def _of_lives(rows: Sequence[tuple[str, Mapping[str, str]]], watched: Watched) -> list[Class]:
    ended: dict[tuple[str, str], list[Seconds]] = {}
    running: dict[tuple[str, str], list[Seconds]] = {}
    for place, row in rows:
        key, life = _named(row, place), _duration(row["lifetime"], f"{place}: lifetime")
        ended.setdefault(key, [])
        running.setdefault(key, [])
        (ended if _flag(row.get("ended", "1"), place) else running)[key].append(life)
    return [_of_one_class(key, ended[key], running[key], watched) for key in ended]


def _of_one_class(key: tuple[str, str], ended: list[Seconds], running: list[Seconds], watched: Watched) -> Class:
    cause, unit = key
    enough = len(ended) >= FEWEST_FOR_A_SHAPE and len(set(ended)) > 1
    shape = estimate.weibull_shape(ended, running) if enough else None
    return _class(cause, unit, len(ended), watched.units_of(unit), sum(ended) + sum(running), shape)


def _class(name: str, unit: str, count: int, number: int, exposure: Seconds, shape: Number | None = None) -> Class:
    rate = estimate.rate(count, exposure)
    return Class(name=name, unit=unit, units=number, count=count, exposure=exposure, rate=rate, shape=shape)


def _named(row: Mapping[str, str], place: str) -> tuple[str, str]:
    cause, unit = row["cause"], row.get("unit") or "host"
    if not cause:
        raise ScenarioError(f"{place}: cause: empty")
    if unit not in UNITS:
        raise ScenarioError(f"{place}: unit: {unit[:40]!r} is none of {', '.join(UNITS)}")
    return cause[:80], unit


def _duration(text: str, place: str) -> Seconds:
    """Return a duration; a bare number is hours."""
    try:
        value = float(text) * 3600.0
    except ValueError:
        try:
            value = units.parse(text, "s")
        except ValueError as error:
            raise ScenarioError(f"{place}: {error}") from None
    if not math.isfinite(value) or value <= 0:
        raise ScenarioError(f"{place}: expected more than zero, found {text[:40]!r}")
    return value


def _flag(text: str, place: str) -> bool:
    if text.lower() in TRUE:
        return True
    if text.lower() in FALSE:
        return False
    raise ScenarioError(f"{place}: ended: expected 1 (it failed) or 0 (it was still running), found {text[:40]!r}")
