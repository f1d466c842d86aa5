"""Sensitivity for a terminal: what each uncertain input, low and high, makes of a figure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from simulator.io.printable import Page
from simulator.io.terminal import page, table
from simulator.studies.metrics import label, text
from simulator.studies.tornado import INPUTS, swings

if TYPE_CHECKING:
    from rich.console import Console


def write(rows: Sequence[dict[str, Any]], metrics: Sequence[str], console: Console | None = None) -> Page:
    """Return a table for each figure, the input that moves it most first."""
    blocks: list[Any] = []
    for metric in metrics:
        expected = rows[0].get(metric)
        if expected is None:
            continue
        name = label(metric)
        blocks.append(f"{name[0].upper()}{name[1:]}: {text(metric, expected)}")
        found = swings(rows, metric)
        lines = [
            [
                one.name,
                *_pair(metric, INPUTS[one.name].low, one.low, expected),
                *_pair(metric, INPUTS[one.name].high, one.high, expected),
            ]
            for one in found
        ]
        if lines:
            blocks.append(table(["input", "times", "gives", "", "times", "gives", ""], lines))
        still = [one for one in INPUTS if one not in {swing.name for swing in found}]
        blocks += [f"Not moved by {', '.join(still)}."] if still else []
        blocks.append("")
    return page(blocks[:-1], console)


def _pair(metric: str, times: float, value: float | None, expected: float) -> tuple[str, str, str]:
    share = f"{100 * (value / expected - 1):+.1f}%" if value and expected else ""
    return f"{times:g}", text(metric, value), share.replace("+0.0%", "0.0%").replace("-0.0%", "0.0%").replace("-", "−")
