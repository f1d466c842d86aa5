"""Policies for a terminal: the best under each condition in a line, and a row a policy with its distance from it."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from simulator.io.printable import Page
from simulator.io.readable import digits, duration, percent
from simulator.io.terminal import page, table
from simulator.report.columns import fitting
from simulator.studies.columns import INFEASIBLE
from simulator.studies.metrics import head, text
from simulator.studies.stress import ADVICE
from simulator.studies.sweep import names
from simulator.studies.trial import CONDITIONS
from simulator.studies.vary import Axis

if TYPE_CHECKING:
    from rich.console import Console

METRICS = ("goodput_mean", "wall_clock_p50_s", "dollars_p50", "wall_clock_p90_s", "dollars_p90")
MOST_ROWS = 80


def write(rows: Sequence[dict[str, Any]], axes: Sequence[Axis], objective: str, console: Console | None = None) -> Page:
    """Return the study as text, in the order of the grid."""
    short = names(axes)
    lines = [[row[key] for key in short] for row in rows[:MOST_ROWS]]
    last = [("runs", [f"{row['runs']:,}" for row in rows[:MOST_ROWS]]), ("", [_word(row) for row in rows[:MOST_ROWS]])]
    shown = [metric for metric in METRICS if any(row.get(metric) is not None for row in rows)]
    figures = [(head(metric), [text(metric, row.get(metric)) for row in rows[:MOST_ROWS]]) for metric in shown]
    kept = [*fitting(list(short.values()), lines, figures, last), *last]
    cells = [[*line, *(column[index] for _, column in kept)] for index, line in enumerate(lines)]
    drawn = table([*short.values(), *(name for name, _ in kept)], cells)
    blocks: list[Any] = [*answers(rows, axes, objective), *advice(rows), "", drawn]
    if len(rows) > MOST_ROWS:
        blocks.append(f"... and {len(rows) - MOST_ROWS:,} more rows; --csv prints them all")
    return page([*blocks, *_notes(rows, objective)], console)


def answers(rows: Sequence[dict[str, Any]], axes: Sequence[Axis], objective: str) -> list[str]:
    """Return the best policy under each condition, and those that cannot be told from it."""
    short = names(axes)
    conditions = [key for key in short if key.startswith(CONDITIONS)]
    policies = [key for key in short if key not in conditions]
    lines = []
    for where in dict.fromkeys(tuple(row[key] for key in conditions) for row in rows):
        group = [row for row in rows if tuple(row[key] for key in conditions) == where]
        lines += textwrap.wrap(
            _answer(group, where, [short[key] for key in conditions], policies, short), 79, subsequent_indent="  "
        )
    return lines


def _answer(
    group: Sequence[dict[str, Any]],
    where: Sequence[str],
    named: Sequence[str],
    policies: Sequence[str],
    short: dict[str, str],
) -> str:
    told = ", ".join(f"{name} {value}" for name, value in zip(named, where, strict=True))
    best = next((row for row in group if row["best"]), None)
    if best is None:
        return f"{f'With {told}: n' if told else 'N'}o policy gets to the end."
    policy = ", ".join(f"{short[key]} {best[key]}" for key in policies) or "all alike"
    said = f"{f'Best with {told}' if told else 'Best'}: {policy}: goodput {percent(best['goodput_mean'])}, "
    days, late, cost = (text(name, best[name]) for name in ("wall_clock_p50_s", "wall_clock_p90_s", "dollars_p50"))
    said += f"{days} (P90 {late}), {cost}"
    ties = [", ".join(row[key] for key in policies) for row in group if row["tie"]]
    shown = f"; no worse: {', '.join(ties[:4])}{' ...' if len(ties) > 4 else ''}" if ties and policies else ""
    return f"{said}{shown}."


def advice(rows: Sequence[dict[str, Any]]) -> list[str]:
    """Return what theory says of the intervals of the best policies."""
    best = [row for row in rows if row["best"] and all(row.get(name) is not None for name in ADVICE)]
    if not best:
        return []
    low, high = (duration(bound(row["best_interval_s"] for row in best)) for bound in (min, max))
    half, double = (digits(100 * max(row[name] for row in best), 2) for name in ADVICE[1:])
    between, most = (f"is {low}", "") if low == high else (f"goes from {low} to {high}", " at most")
    said = f"In theory the best interval {between}; half of it loses {half} points of goodput, double {double}{most}."
    return textwrap.wrap(said, 79, subsequent_indent="  ")


def _word(row: dict[str, Any]) -> str:
    if row["best"]:
        return "best"
    if row["verdict"] == INFEASIBLE:
        return "infeasible"
    if row["progress"] is False:
        return "no progress"
    if row["worse"] is None:
        return ""
    share = f"{100 * row['worse']:+.2f}%".replace("-", "−")
    return f"tie {share}" if row["tie"] else share


def _notes(rows: Sequence[dict[str, Any]], objective: str) -> list[str]:
    figure = {"cost": "dollars"}.get(objective, objective)
    said = (
        f"Last column: mean {figure} over the best policy's, run by run under the same failures; a tie where the 99% "
    )
    said += "interval of that difference holds zero."
    lines = ["", *textwrap.wrap(said, 79)] if any(row["worse"] is not None for row in rows) else []
    reasons = dict.fromkeys(row["reason"] for row in rows if row["reason"])
    for reason in list(reasons)[:8]:
        lines += ["", *textwrap.wrap(f"- {reason}", 79, subsequent_indent="  ")]
    return lines
