"""Rates of failures by class from a user's own log, and the preset that a scenario can name.

A log, in any format of `simulator.reliability.logs`, is either events, or lives: how long each unit was watched, and
whether it failed then or was still running, which is what statisticians call censored. Either way the rate of a class
is its count over the exposure of all its units.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import yaml

from simulator import units
from simulator.errors import ScenarioError
from simulator.reliability import estimate
from simulator.reliability.logs import reading
from simulator.reliability.logs.base import Logged
from simulator.sums import added
from simulator.units import Count, Number, Seconds

FEWEST_FOR_A_SHAPE = 10


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
    """Return the classes in a log, the most frequent first; ScenarioError names the line that is wrong."""
    log = reading.read(text, name)
    if not log.rows:
        raise ScenarioError(f"{name}: no rows")
    lives = any(row.life is not None for row in log.rows)
    for row in log.rows:
        if not row.cause and not log.format.competing:
            raise ScenarioError(f"{row.place}: cause: empty")
    found = _of_lives(log, watched) if lives else _of_events(log, watched, name)
    if not found:
        raise ScenarioError(f"{name}: no failures")
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


def _of_events(log: reading.Log, watched: Watched, name: str) -> list[Class]:
    if watched.wall is None:
        raise ScenarioError(f"{name}: a log of events needs the time that was watched; give --wall, such as 54d")
    counts = Counter((row.cause, row.unit) for row in log.rows)
    return [
        _class(cause, unit, count, watched.units_of(unit), watched.units_of(unit) * watched.wall)
        for (cause, unit), count in counts.items()
    ]


def _of_lives(log: reading.Log, watched: Watched) -> list[Class]:
    """Return the classes of lives; each is watched by the lives of its own, or of its unit where classes compete."""
    together = log.format.competing
    lives: dict[tuple[str, str], list[Logged]] = {}
    for row in log.rows:
        lives.setdefault(("" if together else row.cause, row.unit), []).append(row)
    classes = dict.fromkeys((row.cause, row.unit) for row in log.rows if row.cause)
    return [
        _of_one_class(cause, unit, lives["" if together else cause, unit], watched, log.format.aged)
        for cause, unit in classes
    ]


def _of_one_class(cause: str, unit: str, lives: Sequence[Logged], watched: Watched, aged: bool) -> Class:
    failed = [row for row in lives if row.ended and row.cause == cause]
    exposure = added((row.life or 0.0) * row.units for row in lives)
    if not exposure > 0:
        raise ScenarioError(f"{lives[0].place}: nothing was watched for any time")
    ended = [row.life for row in failed if row.life]
    running = [row.life for row in lives if row.life and not (row.ended and row.cause == cause)]
    enough = aged and len(ended) >= FEWEST_FOR_A_SHAPE and len(set(ended)) > 1
    shape = estimate.weibull_shape(ended, running) if enough else None
    return _class(cause, unit, len(failed), watched.units_of(unit), exposure, shape)


def _class(name: str, unit: str, count: int, number: int, exposure: Seconds, shape: Number | None = None) -> Class:
    rate = estimate.rate(count, exposure)
    return Class(name=name, unit=unit, units=number, count=count, exposure=exposure, rate=rate, shape=shape)
