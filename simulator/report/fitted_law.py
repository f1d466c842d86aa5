"""A fit of a user's runs for a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from typing import Any

from simulator.io.printable import Page
from simulator.io.readable import digits, dollars, percent, prefixed
from simulator.io.terminal import page, table
from simulator.studies.plan.fit.record import NAMES


def write(document: Mapping[str, Any]) -> Page:
    """Return the fit as text."""
    return page(_fit(document))


def _fit(document: Mapping[str, Any]) -> list[Any]:
    head = ("L = E + A/N^alpha + B/D^beta", "value", f"{document['level']:.0%} interval")
    rows = [(NAMES[name], _constant(one["value"]), _interval(one)) for name, one in document["constants"].items()]
    edge, flat = document["frontier"], document["isoflop"]
    lines = [
        f"{document['runs']:,} runs; scatter around the law {percent(document['scatter'])}"
        f", {document['resamples']:,} resamples.",
        f"Compute frontier: {edge['points']} runs, loss ~ C^{edge['exponent']:.3f}.",
    ]
    if flat["exponent"] is not None:
        lines.append(f"IsoFLOP minima: best N ~ C^{flat['exponent']:.3f}.")
    blocks: list[Any] = [*lines, "", table(head, rows)]
    if flat["budgets"]:
        budgets = [
            (f"{one['flops']:.0e}", prefixed(one["best"]), "" if one["minimum"] is None else prefixed(one["minimum"]))
            for one in flat["budgets"]
        ]
        blocks += ["", table(("FLOPs", "best size run", "of a parabola"), budgets)]
    return blocks


def below(document: Mapping[str, Any]) -> list[Any]:
    """Return the blocks that the user's runs add below a plan."""
    lines: list[str] = []
    fit: list[Any] = []
    if "price_per_gpu_hour" in document:
        lines.append(f"The money lasts so long at {dollars(document['price_per_gpu_hour'])} a GPU-hour.")
    if "prediction" in document:
        said = [
            f"{name} {_value(name, one['value'])} ({_interval(one, name)})"
            for name, one in document["prediction"].items()
        ]
        lines.append(f"By your runs, with 90% intervals: {', '.join(said)}.")
    if "track" in document:
        lines.append(_track(document["track"]))
    if "fit" in document:
        fit = ["", *_fit(document["fit"])]
    return [block for line in lines for block in ("", textwrap.fill(line, 79))] + fit


def _track(seen: Mapping[str, Any]) -> str:
    if not seen["comparable"]:
        return (
            f"Your loss {seen['observed']:.3f}, the law's {seen['expected']:.3f}: only a law of your own data and "
            "tokenizer (--fit) can say whether the run is on track."
        )
    return (
        f"Your run is {seen['word']}: loss {seen['observed']:.3f}, expected {seen['expected']:.3f} "
        f"({seen['low']:.3f} to {seen['high']:.3f})."
    )


def _value(name: str, value: float) -> str:
    return f"{value:.3f}" if name == "loss" else prefixed(value)


def _interval(one: Mapping[str, float | None], name: str = "") -> str:
    low, high = one["low"], one["high"]
    if low is None or high is None:
        return ""
    if name:
        return f"{_value(name, low)} to {_value(name, high)}"
    return f"{_constant(low)} to {_constant(high)}"


def _constant(value: float) -> str:
    """Return a constant of a law; those that runs do not determine may be huge."""
    return digits(value, 4) if 1e-4 < abs(value) < 1e6 else f"{value:.2e}"
