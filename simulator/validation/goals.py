"""How near collectives are meant to be, beside what is reached."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from simulator.units import Share
from simulator.validation import scores
from simulator.validation.lines import Line
from simulator.validation.scores import Errors

LEFT_OUT = 1.3
"""Factor on every goal where systems are left out of what constants are derived from."""
_LARGE = ("32 to 512 MiB", "512 MiB and above")
_ONE, _MANY = (tuple(f"{place}, {size}" for size in _LARGE) for place in ("one host", "many hosts"))
GOALS: dict[str, tuple[tuple[str, ...], Share]] = {
    "inside a host, 32 MiB and above": (_ONE, 0.06),
    "across hosts, 512 MiB and above": (_MANY[1:], 0.08),
    "across hosts, 32 MiB and above": (_MANY, 0.15),
    "32 MiB and above": ((*_ONE, *_MANY), 0.15),
    "all sizes": ((), 0.30),
}
"""Size classes, all where none is named, and the largest mean error of time."""


@dataclass(frozen=True, kw_only=True)
class Goal:
    name: str
    limit: Share
    """The mean error is meant to be at most this."""
    errors: Errors


def goals(lines: Iterable[Line], factor: float = 1.0) -> tuple[Goal, ...]:
    """Return what is reached on the collectives among `lines`, in error of time whatever the source printed."""
    pairs = [
        (line.group, *_times(line))
        for line in lines
        if line.suite == "collectives" and line.scored and line.measured and line.predicted
    ]
    found = []
    for name, (groups, limit) in GOALS.items():
        chosen = [pair for group, *pair in pairs if not groups or group in groups]
        if chosen:
            measured, predicted = zip(*chosen, strict=True)
            found.append(Goal(name=name, limit=limit * factor, errors=scores.errors(measured, predicted)))
    return tuple(found)


def _times(line: Line) -> tuple[float, float]:
    """Return measured and predicted time; the inverse of a bandwidth stands for it."""
    assert line.measured
    assert line.predicted
    return (line.measured, line.predicted) if line.quantity == "time_us" else (1 / line.measured, 1 / line.predicted)
