"""A budget of phases for a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from simulator.io.printable import Page
from simulator.io.readable import digits, dollars, percent, prefixed
from simulator.io.terminal import page, table
from simulator.studies.plan.phases import Line

if TYPE_CHECKING:
    from rich.console import Console


def write(lines: Sequence[Line], console: Console | None = None) -> Page:
    """Return a row a phase and the total."""
    rows = [
        (
            line.name,
            "" if not line.tokens else prefixed(line.tokens),
            prefixed(line.gpu_hours),
            "" if line.days is None else digits(line.days),
            "" if line.dollars is None else dollars(line.dollars),
            percent(line.share),
        )
        for line in lines
    ]
    return page([table(("phase", "tokens", "GPU-hours", "days", "cost", "share"), rows)], console)
