"""A budget of phases for a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from simulator.readable import digits, dollars, percent, prefixed
from simulator.report import table
from simulator.studies.plan.phases import Line

if TYPE_CHECKING:
    from rich.console import Console


def write(lines: Sequence[Line], console: Console | None = None) -> str:
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
    return table.write(("phase", "tokens", "GPU-hours", "days", "cost", "share"), rows, console)
