"""What a scenario expects of its result: published figures that it must meet."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


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
