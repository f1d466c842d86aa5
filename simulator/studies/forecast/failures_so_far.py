"""The failures of a run so far, as somebody wrote them down: one row each."""

from __future__ import annotations

from simulator.errors import ScenarioError
from simulator.reliability.logs import reading
from simulator.units import Count, Seconds


def listed(text: str, name: str) -> tuple[Count, tuple[Seconds, ...]]:
    """Return how many failures a table holds, and the time without training after those that say it.

    Raises ScenarioError where it is in none of the formats of logs of failures.
    """
    rows = [row for row in reading.read(text, name).rows if row.ended]
    if not rows and not text.strip():
        raise ScenarioError(f"{name}: no rows")
    return len(rows), tuple(row.away for row in rows if row.away)
