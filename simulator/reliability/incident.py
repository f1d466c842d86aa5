"""One failure at one time."""

from __future__ import annotations

from typing import NamedTuple

from simulator.units import Seconds


class Incident(NamedTuple):
    """A failure at a time of the exposure's clock, of the cause with this number; `host`, `away` from a log."""

    time: Seconds
    cause: int
    host: int | None = None
    away: Seconds | None = None
