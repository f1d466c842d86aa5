"""At which value of one key two options are equal: a price, a bandwidth, a time between failures.

The key keeps its unit: its number is scaled until a figure of the scenario equals that of the other one. Figures of
runs come from the same random streams at every value, so that the curve between them is smooth enough to follow.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from math import exp, floor, isfinite, log
from typing import Any, NamedTuple

from simulator.errors import InfeasibleError, ScenarioError
from simulator.units import Number, whole

SCALED = re.compile(r"(?P<before>\$?)(?P<number>[0-9]+(?:\.[0-9]+)?(?:e[-+]?[0-9]+)?)(?P<after>[^0-9]*)")
DOUBLINGS = 10
"""How far from the value in the scenario a break-even is looked for: 2^10 times as much, and as little."""
CLOSE = 1e-3
"""Relative width of the interval in which the break-even is known to lie."""


class Even(NamedTuple):
    """The value of the key at which the figures are equal, as the scenario would write it, and those around it."""

    key: str
    value: str
    """Where a key counts things, the smallest number that reaches the other option."""
    times: Number
    """Over the value that the scenario has now."""
    now: str


def even(key: str, resolved: Mapping[str, Any], figure: Callable[[str], Number | None], target: Number) -> Even:
    """Return the value at which `figure`, given a value as text, is `target`.

    `figure` is None where the value cannot be run. Raises InfeasibleError where no value within reach does it.
    """
    now = written(key, resolved)
    parts = SCALED.fullmatch(now)
    if parts is None or not float(parts["number"]):
        raise ScenarioError(f"--solve {key}: `{now[:40]}` is no number to scale; give one with --set {key}=VALUE")
    number = float(parts["number"])
    counted = whole(parts["number"]) is not None and not parts["before"] and not parts["after"].strip()

    def text(times: Number) -> str:
        scaled = number * times
        shown = str(max(round(scaled), 1)) if counted else f"{scaled:.10g}"
        return f"{parts['before']}{shown}{parts['after']}"

    def off(times: Number) -> Number | None:
        found = figure(text(times))
        return log(found / target) if found and isfinite(found) else None

    low, high = _bracket(off, key, now)
    if low != high:
        low, high = _narrowed(off, low, high, whole=number if counted else None)
    times = high if counted else (low * high) ** 0.5
    return Even(key, text(times) if counted else _rounded(parts, number * times), times, now)


def written(key: str, resolved: Mapping[str, Any]) -> str:
    """Return what a resolved scenario says at a dotted key, as text."""
    here: Any = resolved
    for part in key.split("."):
        if isinstance(here, Mapping) and part in here:
            here = here[part]
        else:
            raise ScenarioError(f"--solve {key}: the scenario has no value there to start from; give one with --set")
    return str(here)


def _bracket(off: Callable[[Number], Number | None], key: str, now: str) -> tuple[Number, Number]:
    """Return two multiples between which the difference changes its sign, nearest to the present value."""
    middle = off(1.0)
    if middle is None:
        raise InfeasibleError(f"{key}: with {now} the scenario cannot be run")
    if middle == 0:
        return 1.0, 1.0
    edges = {2.0: 1.0, 0.5: 1.0}
    for _ in range(DOUBLINGS):
        for step, edge in list(edges.items()):
            found = off(edge * step)
            if found is not None and (found > 0) != (middle > 0):
                return tuple(sorted((edge, edge * step)))  # type: ignore[return-value]
            edges[step] = edge * step
    raise InfeasibleError(f"{key}: no value from {1 / 2**DOUBLINGS:.2g} to {2**DOUBLINGS} times {now} makes them equal")


def _narrowed(
    off: Callable[[Number], Number | None], low: Number, high: Number, *, whole: Number | None
) -> tuple[Number, Number]:
    """Return the bracket narrowed by regula falsi with halving (Illinois), or by counts one by one."""
    below, above = off(low), off(high)
    assert below is not None
    assert above is not None
    if whole is not None:
        return _counts(off, round(low * whole), round(high * whole), below, whole)
    start, end, left, right, side = log(low), log(high), below, above, 0
    while end - start > CLOSE:
        at = (start * right - end * left) / (right - left)
        at = min(max(at, start + CLOSE / 4), end - CLOSE / 4)
        found = off(exp(at))
        if found is None:
            raise InfeasibleError("between the values that are tried some cannot be run")
        if (found > 0) == (left > 0):
            start, left = at, found
            right, side = (right / 2, -1) if side == -1 else (right, -1)
        else:
            end, right = at, found
            left, side = (left / 2, 1) if side == 1 else (left, 1)
    return exp(start), exp(end)


def _counts(
    off: Callable[[Number], Number | None], low: int, high: int, below: Number, whole: Number
) -> tuple[Number, Number]:
    """Halve an interval of counts; those that cannot be run are passed over."""
    while high - low > 1:
        for middle in sorted(range(low + 1, high), key=lambda n: abs(2 * n - low - high))[:64]:
            found = off(middle / whole)
            if found is not None:
                break
        else:
            break
        low, high = (middle, high) if (found > 0) == (below > 0) else (low, middle)
    return low / whole, high / whole


def _rounded(parts: re.Match[str], number: Number) -> str:
    """Return the value with the digits that are known."""
    digits = 3 - floor(log(abs(number), 10)) if number else 0
    return f"{parts['before']}{round(number, digits):.10g}{parts['after']}"
