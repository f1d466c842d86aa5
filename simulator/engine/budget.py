"""Whether a run has so many happenings that simulating it one by one would take hours.

What is expected over the useful work: episodes that slow the run down, planned stops, and failures that stop it. The
last come into it only where the run makes progress; where it makes none, it is given up long before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.units import Number

if TYPE_CHECKING:
    from simulator.engine.run import RunInput

MOST = 300_000
"""Happenings of one run, some seconds of simulation; a million GPUs for a quarter of a year have a fifth of it (at
Llama 3's rates)."""


def too_many_episodes(run: RunInput) -> str | None:
    """Return what happens too often without stopping the run, or None."""
    causes = [cause for cause in run.failures.causes if cause.is_episode]
    expected = {cause.label: _events(run, cause.unit, cause.rate(_units(run, cause.unit))) for cause in causes}
    every = getattr(run.failures.planned, "every", 0.0)
    if every:
        expected["planned stops"] = _span(run) / every
    most = max(expected, key=lambda name: expected[name], default="")
    return _too_many(most, expected[most]) if most and expected[most] > MOST else None


def too_many_interruptions(run: RunInput) -> str | None:
    """Return that a run which makes progress is interrupted too often, or None."""
    expected = run.failures.rate({**run.units, "job": 1}) * _span(run)
    return _too_many("interruptions", expected) if expected > MOST else None


def _events(run: RunInput, unit: str, rate: Number) -> Number:
    return run.failures.factor(unit, run.units["gpu"]) * rate * _span(run)


def _units(run: RunInput, unit: str) -> int:
    return 1 if unit == "job" else run.units.get(unit, 0)


def _span(run: RunInput) -> Number:
    return min(run.work, run.until)


def _too_many(what: str, count: Number) -> str:
    return f"failures: about {count:.2g} {what} in one run; {MOST:,} is the most that can be simulated"
