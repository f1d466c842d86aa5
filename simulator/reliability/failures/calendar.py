"""Causes whose events are given with their times, not drawn."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from simulator.reliability.failures.base import Cause
from simulator.units import Seconds


class Event(NamedTuple):
    """A failure at a time of the exposure clock; `host` where it is known, `away` where a downtime was logged."""

    time: Seconds
    host: int | None = None
    away: Seconds | None = None


@dataclass(frozen=True, kw_only=True)
class Calendar(Cause):
    @abstractmethod
    def events(self) -> Iterator[Event]:
        """Yield the events in order of time, perhaps without end."""
