"""A sweep for a terminal: the best point in a line, a row a point, and why points cannot be run."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from simulator.io.printable import Page
from simulator.io.readable import percent
from simulator.io.terminal import page, table
from simulator.report.columns import fitting
from simulator.studies.columns import INFEASIBLE
from simulator.studies.metrics import head, label, larger_is_better, text
from simulator.studies.sweep import best, names, ranked
from simulator.studies.vary import Axis
from simulator.workload.capacity import FEW

if TYPE_CHECKING:
    from rich.console import Console

MOST_ROWS = 60
MOST_REASONS = 12
WORDS = {"fits": "", None: ""}


def write(
    rows: Sequence[dict[str, Any]], axes: Sequence[Axis], metrics: Sequence[str], console: Console | None = None
) -> Page:
    """Return the study as text; of long studies the first rows, the rest are for ``--csv``."""
    several = len({row["scenario"] for row in rows}) > 1
    shown = [metric for metric in metrics if any(row.get(metric) is not None for row in rows)]
    short = names(axes)
    heads = [*(["scenario"] if several else []), *short.values()]
    cells = [[*([row["scenario"]] if several else []), *(row[key] for key in short)] for row in rows[:MOST_ROWS]]
    words = [_word(row) for row in rows[:MOST_ROWS]]
    last = [(head(name), [text(name, row.get(name)) for row in rows[:MOST_ROWS]]) for name in _risks(rows, shown[:1])]
    last += [("", words)] if any(words) else []
    shown = [metric for metric in shown if metric not in _risks(rows, shown[:1])]
    figures = [(head(metric), [text(metric, row.get(metric)) for row in rows[:MOST_ROWS]]) for metric in shown]
    for name, column in [*fitting(heads, cells, figures, last), *last]:
        heads.append(name)
        cells = [[*line, cell] for line, cell in zip(cells, column, strict=True)]
    blocks: list[Any] = [textwrap.fill(answer(rows, axes, shown), 79), "", table(heads, cells)]
    if len(rows) > MOST_ROWS:
        blocks.append(f"... and {len(rows) - MOST_ROWS:,} more rows; --csv prints them all")
    return page([*blocks, *_reasons(rows)], console)


def answer(rows: Sequence[dict[str, Any]], axes: Sequence[Axis], shown: Sequence[str]) -> str:
    """Return which point is the best in the first figure, and by how much over the worst."""
    metric = shown[0] if shown else "step_time_s"
    order = ranked(list(rows), metric)
    if not order:
        return f"None of {len(rows):,} points can be run."
    top, worst = best(rows, metric), order[-1]
    assert top is not None
    word = "highest" if larger_is_better(metric) else "lowest"
    said = f"{word} {label(metric)}: {text(metric, top[metric])} with {_named(top, axes, rows)}{_caveats(top)}"
    if worst[metric] != top[metric]:
        said += f"; the {'lowest' if larger_is_better(metric) else 'highest'} is {text(metric, worst[metric])}"
    rest = len(rows) - len(order)
    said = f"{said[0].upper()}{said[1:]}."
    if order[0][metric] != top[metric]:
        risk = f"{text(metric, order[0][metric])} with {_named(order[0], axes, rows)}{_caveats(order[0])}"
        said += f" {risk} may run out of memory."
    return said + (f" {rest:,} of {len(rows):,} points cannot be run." if rest else "")


def _risks(rows: Sequence[dict[str, Any]], asked: Sequence[str]) -> list[str]:
    """Return the columns that say at which price a point is good, where any has one to pay."""
    found = {
        "p_fits": any(row["verdict"] == "tight" for row in rows),
        "dropped_tokens": any(_drops(row) for row in rows),
    }
    return [name for name, there in found.items() if there and name not in asked]


def _drops(row: dict[str, Any]) -> bool:
    return (row.get("dropped_tokens") or 0.0) > FEW


def _caveats(row: dict[str, Any]) -> str:
    """Return in brackets what stands against a point.

    >>> _caveats({"verdict": "tight", "p_fits": 0.28, "dropped_tokens": 0.25})
    ' (tight, P(fits) 28.0%; drops 25.0% of its tokens)'
    """
    said = [f"tight, P(fits) {percent(row['p_fits'])}"] if row["verdict"] == "tight" else []
    said += [f"drops {percent(row['dropped_tokens'])} of its tokens"] if _drops(row) else []
    return f" ({'; '.join(said)})" if said else ""


def _named(row: dict[str, Any], axes: Sequence[Axis], rows: Sequence[dict[str, Any]]) -> str:
    scenario: str = row["scenario"]
    words = [f"{name} {row[key]}" for key, name in names(axes).items()]
    if len({one["scenario"] for one in rows}) > 1:
        words.insert(0, scenario)
    return ", ".join(words) or scenario


def _word(row: dict[str, Any]) -> str:
    if row.get("progress") is False:
        return "no progress"
    verdict: str = row["verdict"]
    return WORDS.get(verdict, verdict)


def _reasons(rows: Sequence[dict[str, Any]]) -> list[str]:
    """Return why points contradict themselves, each reason once."""
    found: dict[str, int] = {}
    for row in rows:
        if row["verdict"] == INFEASIBLE and row["reason"]:
            found[row["reason"]] = found.get(row["reason"], 0) + 1
    lines = []
    for reason, count in list(found.items())[:MOST_REASONS]:
        said = f"- {reason}" + (f" ({count:,} points)" if count > 1 else "")
        lines += textwrap.wrap(said, 78, subsequent_indent="  ")
    if len(found) > MOST_REASONS:
        lines.append(f"- and {len(found) - MOST_REASONS:,} more reasons; --csv prints them all")
    return ["", *lines] if lines else []
