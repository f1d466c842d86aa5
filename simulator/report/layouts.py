"""Layouts for a terminal: the best in a line, the ranking, why the best is the best, and what did not fit."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from simulator.io.printable import Page
from simulator.io.readable import NO_PROGRESS, chance, dollars, duration, duration_like, memory, percent
from simulator.io.terminal import page, table
from simulator.outcome.results import Result
from simulator.plots.pareto import name_of
from simulator.report.columns import fitting
from simulator.studies.best import Term
from simulator.studies.best_layout import LayoutSearch
from simulator.studies.ranking import CLOSE, LIKELY, alike, folded, pareto, sure
from simulator.studies.space import SCHEDULES
from simulator.sums import added
from simulator.units import Seconds

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

AXES = (
    ("TP", "tensor"),
    ("PP", "pipeline"),
    ("VP", "chunks"),
    ("CP", "context"),
    ("EP", "expert"),
    ("ETP", "expert_tensor"),
    ("DP", "data"),
    ("MB", "microbatch"),
)
ALWAYS = ("tensor", "pipeline", "data", "microbatch")
FILES = "best.yaml is the one that surely fits, fastest.yaml the tight one."
SHARDS = {"none": "none", "optimizer": "optim", "gradients": "grads", "parameters": "params"}


def write(search: LayoutSearch, *, top: int, console: Console | None = None, written: bool = False) -> Page:
    """Return the study as text; with `written`, which of two best layouts is in which file."""
    order = search.order
    blocks: list[Any] = [answer(search.rows, order)]
    if written and sure(order) is not (order[0] if order else None):
        blocks.append(FILES)
    if order:
        if search.result is not None:
            blocks.append(_run(search.result))
        blocks += ["", ranking(order, top), *_legend(order, top)]
        if search.terms:
            blocks += ["", *_why(order, search.terms)]
    return page([*blocks, *_rejected(search.rows, search.without)], console)


def answer(rows: Sequence[dict[str, Any]], order: Sequence[dict[str, Any]]) -> str:
    """Return the best layout in words, and the fastest that surely fits where the best is tight."""
    if not order:
        return f"None of {len(rows):,} layouts fits."
    best = order[0]
    lines = [f"Best: {_said(best)}"]
    if best["verdict"] == "tight":
        lines[0] += f"; tight, P(fits) {percent(best['p_fits'])}"
        other = sure(order)
        if other is not None and other is not best:
            lines.append(f"Best that surely fits: {_said(other)}, {_slower(other, best)}")
    return "\n".join(textwrap.fill(line, 79, subsequent_indent="  ") for line in lines)


def _said(row: dict[str, Any]) -> str:
    more = [f"microbatch {row['microbatch']}", f"shard {row['shard']}", f"recompute {row['recompute']}"]
    if row["schedule"] not in SCHEDULES:
        more.insert(0, row["schedule"])
    return f"{name_of(row)}, {', '.join(more)}: {duration(row['step_time_s'])} a step, MFU {percent(row['mfu'])}"


def _slower(row: dict[str, Any], best: dict[str, Any]) -> str:
    return f"{percent(row['step_time_s'] / best['step_time_s'] - 1)} slower"


def _run(result: Result) -> str:
    """Return what the whole run of the best layout does."""
    run, step = result.run, f"Simulated: {duration(result.step.time_s)} a step"
    if not run.progress:
        return f"{step}; the run makes no progress, {NO_PROGRESS}."
    days = f"{duration(run.wall_clock_s.p50)} (P90 {duration(run.wall_clock_s.p90)})"
    said = f"{step}; {days}, goodput {percent(run.goodput.mean)}, {dollars(result.cost.dollars.p50)}"
    return textwrap.fill(said, 79, subsequent_indent="  ")


def ranking(order: Sequence[dict[str, Any]], top: int) -> Table:
    """Return the best layouts as a table, those that do the same by other names in one row."""
    found = alike(order[: 40 * top])[:top]
    shown = [members[0] for members in found]
    best = {id(row) for row in pareto([row for row, _ in folded(order)])}
    used = [(head, name) for head, name in AXES if name in ALWAYS or any(row[name] > 1 for row in shown)]
    heads = ["", *(head for head, _ in used), "shard", "recompute"]
    if any(row["schedule"] not in SCHEDULES for row in shown):
        heads.append("schedule")
    lines = [
        [
            f"{number}{'*' if id(row) in best else ' '}",
            *(str(row[name]) for _, name in used),
            SHARDS[row["shard"]],
            row["recompute"],
            *([row["schedule"]] if heads[-1] == "schedule" else []),
        ]
        for number, row in enumerate(shown, 1)
    ]
    figures = [
        ("step", [duration(row["step_time_s"]) for row in shown]),
        ("P(best)", [chance(added(row["p_best"] for row in members)) for members in found]),
        ("P(fits)", [percent(row["p_fits"]) for row in shown]),
        ("headroom", [memory(row["headroom_bytes"]) for row in shown]),
        ("MFU", [percent(row["mfu"]) for row in shown]),
        ("days", [duration(row["wall_clock_p50_s"]) if row.get("wall_clock_p50_s") else "" for row in shown]),
        ("cost", [dollars(row["dollars_p50"]) if row.get("dollars_p50") else "" for row in shown]),
    ]
    kept = fitting(heads, lines, [column for column in figures if any(column[1])])
    whole = [[*line, *(cells[index] for _, cells in kept)] for index, line in enumerate(lines)]
    return table([*heads, *(head for head, _ in kept)], whole)


def _legend(order: Sequence[dict[str, Any]], top: int) -> list[str]:
    found = folded(order[: 40 * top])
    near = added(row["step_time_s"] <= (1 + CLOSE) * order[0]["step_time_s"] for row in order)
    same = added(count for _, count in found[:top])
    said = "P(best): the chance to have the shortest step of all that are ranked. "
    said += f"{near:,} are within {CLOSE:.0%} of the best. * Pareto front of time, memory and cost."
    said += f" {same:,} more do the same by other names." if same else ""
    return textwrap.wrap(said, 79)


def _why(order: Sequence[dict[str, Any]], terms: Sequence[Term]) -> list[Any]:
    """Return the parts of the step of the best layout beside those of the runner-up."""
    other = folded(order[:200])[1][0]
    write_like = duration_like(max(added(term.best for term in terms), added(term.other for term in terms)))
    head = ["", name_of(order[0]), name_of(other), "difference"]
    total = Term("step", added(term.best for term in terms), added(term.other for term in terms))
    lines = [
        [term.name, *(_figure(seconds, write_like) for seconds in (term.best, term.other, term.other - term.best))]
        for term in (*terms, total)
    ]
    return [f"Why, beside the runner-up ({_differences(order[0], other)}):", table(head, lines)]


def _differences(best: dict[str, Any], other: dict[str, Any]) -> str:
    """Return which axes of the runner-up are different."""
    names = [name for _, name in AXES] + ["schedule", "shard", "recompute"]
    return ", ".join(f"{name} {other[name]}" for name in names if best[name] != other[name] and name != "data")


def _figure(seconds: Seconds, write_like: Callable[[Seconds], str]) -> str:
    said = write_like(abs(seconds)).replace("< ", "<")
    return f"{'−' if seconds < 0 and not said.startswith('<') else ''}{said}" if seconds else ""


def _rejected(rows: Sequence[dict[str, Any]], without: Mapping[str, int]) -> list[str]:
    """Return how many layouts do not fit, the one that misses by least, and what does not divide."""
    large = [row for row in rows if row["verdict"] == "oom"]
    tight = added(row["verdict"] == "tight" for row in rows)
    unlikely = added(row["verdict"] == "tight" and row["p_fits"] < LIKELY for row in rows)
    fits = len(rows) - len(large) - tight
    said = (
        f"{len(rows):,} layouts: {fits:,} fit, {tight:,} are tight ({unlikely:,} of those more likely do not fit and "
    )
    said += f"are not ranked), {len(large):,} do not fit."
    if large:
        near = max(large, key=lambda row: row["headroom_bytes"])
        said += f" The closest of those: {name_of(near)}, microbatch {near['microbatch']}, shard {near['shard']}, "
        said += f"recompute {near['recompute']}: {near['reason']}."
    lines = ["", *textwrap.wrap(said, 79)]
    for why, count in without.items():
        lines += textwrap.wrap(f"{count:,} more combinations are none: {why}.", 79)
    return lines
