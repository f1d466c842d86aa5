"""An explanation for a terminal: the gap in a line, a line a cause, what to do next, then what the log says."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

from simulator.io.printable import Page, printable
from simulator.io.readable import duration, memory, percent
from simulator.io.terminal import page, table
from simulator.measured.explained import Explanation, counted_by, gap_share

if TYPE_CHECKING:
    from rich.console import Console

MOST = 5


def write(told: Explanation, console: Console | None = None) -> Page:
    """Return the explanation as text."""
    blocks: list[Any] = [textwrap.fill(line, 79, subsequent_indent="  ") for line in _lines(told)]
    blocks += ["", table(("", "seconds a step"), _sums(told)), "", *_log(told)]
    return page(blocks, console)


def _lines(told: Explanation) -> list[str]:
    found = told.found
    lines = [_headline(told)]
    for one in told.causes[:MOST]:
        took = f"{duration(one.seconds)} a step, " if one.seconds else ""
        lines.append(f"{one.cause}: {took}{one.says}")
    if told.is_unexplained:
        word = "longer" if told.parts_s["unexplained"] > 0 else "shorter"
        lines.append(
            f"Undisturbed steps of {duration(found.level_s)} are {word} than predicted, and a log does not say why; "
            f"check that model, layout, stack and GPU of the scenario are what ran"
        )
    best = next((one for one in told.causes if one.next), None)
    if best is not None:
        saves = f", saves up to {duration(best.seconds)} a step" if best.seconds else ""
        lines.append(f"next: {best.next}{saves}")
    return lines


def _headline(told: Explanation) -> str:
    found, expected = told.found, told.expected
    spread = f"{duration(expected.time_low_s)} to {duration(expected.time_high_s)}"
    whose = "expected" if expected.source == "prediction" else "without disturbance"
    said = f"{duration(found.mean_s)} measured, {duration(expected.time_s)} {whose} ({spread}): "
    if told.within_range:
        return said + "within what was expected"
    return f"{said}{duration(abs(told.gap_s))} ({percent(abs(gap_share(told)))}) {_more(told)}"


def _more(told: Explanation) -> str:
    return "to explain" if told.gap_s > 0 else "faster than expected"


def _sums(told: Explanation) -> list[tuple[str, str]]:
    found, parts = told.found, told.parts_s
    rows = [("expected", f"{told.expected.time_s:.4g}")]
    rows.append(("unexplained by the log", f"{parts['unexplained']:+.4g}"))
    named = 0.0
    for one in told.causes:
        if one.seconds and one.part == "other":
            rows.append((one.cause, f"{one.seconds:+.4g}"))
            named += one.seconds
    rest = parts["other"] - named
    if abs(rest) > 5e-4 * found.level_s:
        rows.append(("noise and small disturbances", f"{rest:+.4g}"))
    return [*rows, ("measured, mean", f"{found.mean_s:.4g}")]


def _log(told: Explanation) -> list[Any]:
    found, log = told.found, told.log
    rows = [
        ("format", f"{log.format}, {log.lines:,} lines"),
        ("steps", f"{found.steps:,} after a warm-up of {found.warm_up:,}"),
        ("median, P10 to P90", f"{found.median_s:.4g} s, {found.p10_s:.4g} to {found.p90_s:.4g} s"),
        ("noise of a step", percent(found.noise)),
    ]
    if told.memory is not None:
        rows.append(("memory of a GPU", memory(told.memory)))
    if told.flops:
        said = ", ".join(f"{name} {value / 1e12:.0f}" for name, value in told.flops.items())
        convention = counted_by(told.flops)
        rows.append(("TFLOP/s a GPU", f"{said} (by {convention})" if convention else said))
    rows += [(what, f"{count:,}") for what, count in log.skipped.items()]
    return [printable(log.name), table(("", ""), rows)]
