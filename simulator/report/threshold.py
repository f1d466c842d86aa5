"""Whether a result is good enough: ``mfu=0.4`` against the number that the JSON holds under that name."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from math import isfinite, nan
from typing import Any

from simulator.errors import ScenarioError
from simulator.outcome.results import Result


def misses(result: Result, floors: Iterable[str]) -> list[str]:
    """Return a sentence for each of `floors`, written ``KEY=VALUE``, that the result lies under."""
    numbers = figures(result)
    missed = []
    for floor in floors:
        key, value, limit = _parse(floor, numbers)
        if value is None or value < limit:
            missed.append(f"{key} is {'unknown' if value is None else f'{value:.6g}'}, under {limit:g}")
    return missed


def figures(result: Result) -> dict[str, float | None]:
    """Return every number of a result by its dotted path, ``step.mfu``; ``run.goodput`` alone is its mean."""
    whole = result.as_dict()
    found = _walk({part: whole[part] for part in ("step", "memory", "run", "cost") if whole[part] is not None}, "")
    means = {path.removesuffix(".mean"): number for path, number in found.items() if path.endswith(".mean")}
    return found | means


def _walk(value: Any, path: str) -> dict[str, float | None]:
    if isinstance(value, dict):
        return {
            inner: number
            for key, item in value.items()
            for inner, number in _walk(item, f"{path}.{key}" if path else str(key)).items()
        }
    if value is None or (isinstance(value, int | float) and not isinstance(value, bool)):
        return {path: value}
    return {}


def _parse(floor: str, numbers: dict[str, float | None]) -> tuple[str, float | None, float]:
    """Return the key, the number it stands for, and the limit; a last word such as ``mfu`` may stand for its path."""
    key, _, text = floor.partition("=")
    limit = _limit(floor, text)
    if key in numbers:
        return key, numbers[key], limit
    ends = [path for path in numbers if path.endswith(f".{key}")]
    shortest = [path for path in ends if path.count(".") == min(end.count(".") for end in ends)]
    if len(shortest) == 1:
        return key, numbers[shortest[0]], limit
    if shortest:
        raise ScenarioError(f"--fail-under {floor}: {key} may be {' or '.join(shortest)}")
    words = {word for path in numbers for word in (path, path.rpartition(".")[2])}
    near = get_close_matches(key, words)
    hint = f"; did you mean {' or '.join(near)}?" if near else ""
    raise ScenarioError(f"--fail-under {floor}: no such number in the result{hint}")


def _limit(floor: str, text: str) -> float:
    try:
        limit = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        limit = nan
    if not isfinite(limit):
        raise ScenarioError(f"--fail-under {floor}: expected KEY=NUMBER, such as mfu=0.4")
    return limit
