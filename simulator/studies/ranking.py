"""Which layouts are the best: their order, which of them are the same by other names, and the Pareto front."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

from simulator.studies.store import Row
from simulator.units import Share

Objective = Literal["time", "mfu", "cost", "days"]
COLUMN: dict[str, str] = {"time": "step_time_s", "mfu": "mfu", "cost": "dollars_p50", "days": "wall_clock_p50_s"}
CLOSE: Share = 0.03
"""Layouts that are predicted to take this much more than the best are counted beside it."""
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
    return [(members[0], len(members) - 1) for members in alike(order)]


def alike(order: Sequence[Row]) -> list[list[Row]]:
    """Return the layouts in their order, those that do the same by other names together."""
    found: list[list[Row]] = []
    for row in order:
        for members in reversed(found):
            if not _alike(row["step_time_s"], members[0]["step_time_s"], ALIKE_TIME):
                found.append([row])
                break
            if _alike(row["peak_bytes"], members[0]["peak_bytes"], ALIKE_MEMORY):
                members.append(row)
                break
        else:
            found.append([row])
    return found


def _alike(one: float, other: float, within: Share) -> bool:
    return abs(one - other) <= within * abs(other)


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
