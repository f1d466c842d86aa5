"""What was learned from measurements, for a terminal: errors before and after, and the factors."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

from simulator.calibration.failures import Class
from simulator.io.printable import Page
from simulator.io.readable import digits, duration, percent
from simulator.io.terminal import page, table
from simulator.scenario.calibration import Calibration

if TYPE_CHECKING:
    from rich.console import Console, RenderableType


def write(learned: Calibration, console: Console | None = None) -> Page:
    """Return evidence and factors."""
    rows = [(one.source, f"{one.rows:,}", percent(one.before), percent(one.after)) for one in learned.evidence]
    blocks: list[RenderableType] = [table(("from", "rows", "error before", "error after"), rows), ""]
    factors = [(key, digits(value, 4)) for key, value in learned.factors().items() if value != 1]
    if factors:
        blocks.append(table(("factor", "measured over predicted rate"), factors))
    else:
        blocks.append("Nothing to change: predictions and measurements agree.")
    note = (
        "network.latency is measured over predicted time. Few rows are believed little: n / (n + 5) of the logarithm."
    )
    return page([*blocks, "", textwrap.fill(note, 79)], console)


def failures(classes: Sequence[Class], console: Console | None = None) -> Page:
    """Return a row a class of failures: count, mean time between them with its interval, shape."""
    rows = [
        (
            one.name,
            one.unit,
            f"{one.count:,}",
            duration(1 / one.rate.value) if one.rate.value else "none seen",
            f"{duration(1 / one.rate.high)} to {duration(1 / one.rate.low) if one.rate.low else 'never'}",
            "" if one.shape is None else digits(one.shape, 2),
        )
        for one in classes
    ]
    head = ("cause", "unit", "count", "mean of one unit", "90% interval", "Weibull shape")
    return page([table(head, rows)], console)
