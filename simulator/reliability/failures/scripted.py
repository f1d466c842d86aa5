"""Failures at given times: a drill, or a published account such as "one every 18 minutes"."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import ClassVar

from simulator.errors import ScenarioError
from simulator.reliability.failures.calendar import Calendar, Event
from simulator.units import Seconds


@dataclass(frozen=True, kw_only=True)
class Scripted(Calendar):
    kind: ClassVar[str] = "scripted"
    at: tuple[Seconds, ...] = ()
    """Times since the start, on the clock of the exposure."""
    every: Seconds | None = None
    """And again after every such time."""

    def __post_init__(self) -> None:
        if not self.at and self.every is None:
            raise ScenarioError("a scripted cause needs `at`, its times, or `every`, the time between them")

    def rate(self, units: int) -> float:
        return 1 / self.every if self.every else 0.0

    def events(self) -> Iterator[Event]:
        given = sorted(self.at)
        if self.every is None:
            yield from map(Event, given)
            return
        position = 0
        for turn in count(1):
            while position < len(given) and given[position] <= turn * self.every:
                yield Event(given[position])
                position += 1
            yield Event(turn * self.every)
