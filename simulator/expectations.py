"""What a scenario asks of its result: targets that may be missed, and published figures that it must meet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from simulator.scenario.targets import Targets
from simulator.units import Dollars, Number, Seconds, Share


def missed(targets: Targets, wall_clocks: Sequence[Seconds], dollars_per_second: Number) -> dict[str, float | None]:
    """Return the targets and the share of the simulated runs that misses each."""

    def share(limit: Seconds | None) -> Share | None:
        return None if limit is None else sum(wall > limit for wall in wall_clocks) / len(wall_clocks)

    budget: Dollars | None = targets.budget
    if targets.deadline is None and budget is None:
        return {}
    affordable = None if budget is None else budget / dollars_per_second if dollars_per_second else float("inf")
    return {
        "deadline_s": targets.deadline,
        "p_late": share(targets.deadline),
        "budget_dollars": budget,
        "p_over_budget": share(affordable),
    }


def expected(wanted: Mapping[str, Mapping[str, float]], result: Mapping[str, Any]) -> tuple[dict[str, Any], ...]:
    """Return every figure that a scenario expects beside what was found.

    >>> expected({"step.mfu": {"value": 0.4, "within": 0.1}}, {"step": {"mfu": 0.43}})[0]["met"]
    True
    """
    return tuple(
        {"key": key, "wanted": dict(limits), "found": found, "met": _met(found, limits)}
        for key, limits in wanted.items()
        for found in [_found(result, key)]
    )


def _found(result: Mapping[str, Any], key: str) -> float | None:
    value: Any = result
    for name in key.split("."):
        value = value.get(name) if isinstance(value, Mapping) else None
    return value if isinstance(value, int | float) else None


def _met(found: float | None, limits: Mapping[str, float]) -> bool:
    if found is None:
        return False
    if "value" in limits and abs(found - limits["value"]) > limits["within"] * abs(limits["value"]):
        return False
    return limits.get("at_least", found) <= found <= limits.get("at_most", found)
