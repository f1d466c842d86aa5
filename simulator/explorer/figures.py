"""The numbers that decide, in words: what the headline says, first of step and memory, then of the whole result."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simulator.io.readable import chance, dollars, duration, memory, percent, prefixed
from simulator.outcome.results import Result
from simulator.studies.metrics import text

Figure = tuple[str, str, str]
"""Label, value, and what stands below it."""


def quick(row: Mapping[str, Any]) -> list[Figure]:
    """Return the figures of step and memory."""
    figures = []
    if row.get("step_time_s") is not None:
        low, high = duration(row["step_time_low_s"]), duration(row["step_time_high_s"])
        figures.append(("step", duration(row["step_time_s"]), f"{low} to {high}"))
        figures.append(("MFU", text("mfu", row["mfu"]), ""))
    if row.get("peak_bytes") is not None:
        figures.append(("peak memory", memory(row["peak_bytes"]), f"P(fits) {chance(row['p_fits'])}"))
    return figures


def whole(result: Result) -> list[Figure]:
    """Return the figures of a whole result: P50 with P10 and P90."""
    step, run, cost = result.step, result.run, result.cost
    figures = [("step", duration(step.time_s), f"{duration(step.time_low_s)} to {duration(step.time_high_s)}")]
    if step.mfu is not None:
        figures.append(("MFU", percent(step.mfu), f"{prefixed(step.tokens_per_s)} tokens/s"))
    if result.memory is not None:
        figures.append(("peak memory", memory(result.memory.peak_bytes), f"P(fits) {chance(result.memory.p_fits)}"))
    if run.progress:
        wall = run.wall_clock_s
        figures += [
            ("wall clock", duration(wall.p50), f"{duration(wall.p10)} to {duration(wall.p90)}"),
            ("goodput", percent(run.goodput.mean), f"{percent(run.goodput.p10)} to {percent(run.goodput.p90)}"),
            ("cost", dollars(cost.dollars.p50), f"{dollars(cost.dollars.p10)} to {dollars(cost.dollars.p90)}"),
        ]
    return figures
