"""Which layouts are the best: their order, which of them the model cannot tell apart, and the Pareto front."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

from simulator.studies.store import Row
from simulator.units import Share

Objective = Literal["time", "mfu", "cost", "days"]
COLUMN: dict[str, str] = {"time": "step_time_s", "mfu": "mfu", "cost": "dollars_p50", "days": "wall_clock_p50_s"}
SAME: Share = 0.05
"""Difference in predicted time below which the order of two layouts is a guess. Of pairs of published layouts of one
model on one cluster (families VT and VTS of ``foretrain validate``), three in four whose predictions are 5 to 10%
apart were measured in that order, and about half of those that are closer."""
LIKELY: Share = 0.5
"""A layout that may fit, but more likely does not, is no answer to which one to take."""
ALIKE_TIME: Share = 1e-6
ALIKE_MEMORY: Share = 0.01
"""Layouts that differ less in both do the same by other names, such as what is recomputed of a fused kernel."""


def ordered(rows: Sequence[Row], objective: str = "time") -> list[Row]:
    """Return what is likely to fit, the best first; layouts that are equal stay in the order of the axes.

    Where nothing is likely to fit, what might is ranked.
    """
    column = COLUMN[objective]
    timed = [row for row in rows if row.get(column) is not None]
    able = [row for row in timed if row.get("p_fits", 1.0) >= LIKELY] or timed
    return sorted(able, key=lambda row: -row[column] if column == "mfu" else row[column])


def sure(order: Sequence[Row]) -> Row | None:
    """Return the first that surely fits; where none does, the first."""
    return next((row for row in order if row["verdict"] == "fits"), order[0] if order else None)


def folded(order: Sequence[Row]) -> list[tuple[Row, int]]:
    """Return the layouts that differ in time or memory, each with how many others do the same by other names."""
    found: list[tuple[Row, int]] = []
    for row in order:
        for place in range(len(found) - 1, -1, -1):
            other, count = found[place]
            if not _alike(row["step_time_s"], other["step_time_s"], ALIKE_TIME):
                found.append((row, 0))
                break
            if _alike(row["peak_bytes"], other["peak_bytes"], ALIKE_MEMORY):
                found[place] = (other, count + 1)
                break
        else:
            found.append((row, 0))
    return found


def _alike(one: float, other: float, within: Share) -> bool:
    return abs(one - other) <= within * abs(other)


def places(order: Sequence[Row]) -> list[int]:
    """Return the place of each layout, those that the model cannot tell apart counted as one.

    >>> places([{"step_time_s": 1.0}, {"step_time_s": 1.04}, {"step_time_s": 1.06}, {"step_time_s": 1.2}])
    [1, 1, 2, 3]
    """
    found: list[int] = []
    first = 0.0
    for row in order:
        if not found or row["step_time_s"] > first * (1 + SAME):
            first = row["step_time_s"]
            found.append(found[-1] + 1 if found else 1)
        else:
            found.append(found[-1])
    return found


def front(rows: Sequence[Row], *figures: Callable[[Row], float]) -> list[Row]:
    """Return the rows that no other one beats in one figure without losing in another; less is better in each.

    >>> front([{"a": 1, "b": 3}, {"a": 2, "b": 2}, {"a": 3, "b": 3}], lambda r: r["a"], lambda r: r["b"])
    [{'a': 1, 'b': 3}, {'a': 2, 'b': 2}]
    """
    values = [tuple(figure(row) for figure in figures) for row in rows]
    kept: list[tuple[Any, ...]] = []
    found: list[Row] = []
    for index in sorted(range(len(rows)), key=values.__getitem__):
        if not any(all(a <= b for a, b in zip(other, values[index], strict=True)) for other in kept):
            kept.append(values[index])
            found.append(rows[index])
    return found


def pareto(rows: Sequence[Row]) -> list[Row]:
    """Return the front of step time, memory headroom and cost."""
    able = [row for row in rows if row.get("step_time_s") is not None]
    return front(
        able,
        lambda row: row["step_time_s"],
        lambda row: -row["headroom_bytes"],
        lambda row: row.get("dollars_p50") or row.get("ideal_s") or 0.0,
    )
