"""What-if: the product of values of any keys, for one scenario or several, one row each."""

from __future__ import annotations

from collections.abc import Sequence

from simulator.studies.columns import INFEASIBLE
from simulator.studies.metrics import larger_is_better
from simulator.studies.point import Base, Point
from simulator.studies.store import Row
from simulator.studies.vary import Axis, choices

DEFAULT_METRICS = ("step_time_s", "mfu", "peak_bytes", "wall_clock_p50_s", "goodput_mean", "dollars_p50")
QUICK_METRICS = ("step_time_s", "mfu", "tokens_per_s_per_gpu", "peak_bytes", "p_fits", "ideal_s")


def points(bases: Sequence[Base], axes: Sequence[Axis], *, quick: bool = False) -> list[Point]:
    """Return the points of the study, scenario by scenario, the last key fastest."""
    every = list(choices(axes))
    return [Point(base, choice, quick) for base in bases for choice in every]


def feasible(rows: Sequence[Row]) -> list[Row]:
    """Return the rows that can be run and fit."""
    return [row for row in rows if row["verdict"] not in (INFEASIBLE, "oom") and row.get("progress") is not False]


def ranked(rows: Sequence[Row], metric: str) -> list[Row]:
    """Return the feasible rows that have this figure, the best first."""
    able = [row for row in feasible(rows) if row.get(metric) is not None]
    return sorted(able, key=lambda row: -row[metric] if larger_is_better(metric) else row[metric])


def best(rows: Sequence[Row], metric: str) -> Row | None:
    """Return the best row that surely fits; where none does, the best that might."""
    order = ranked(rows, metric)
    return next((row for row in order if row["verdict"] != "tight"), order[0] if order else None)


def names(axes: Sequence[Axis]) -> dict[str, str]:
    """Return a short name for each key: as few of its last words as tell it from the others.

    >>> names([Axis("cluster.host.nics", ()), Axis("checkpoint.kind", ()), Axis("training.recompute.kind", ())])
    {'cluster.host.nics': 'nics', 'checkpoint.kind': 'checkpoint.kind', 'training.recompute.kind': 'recompute.kind'}
    """
    keys = [axis.key for axis in axes]
    return {key: next(end for end in _ends(key) if _means_one(end, keys)) for key in keys}


def _ends(key: str) -> list[str]:
    words = key.split(".")
    shortest = 2 if words[-1] in ("kind", "base", "size", "scale", "interval", "level") and len(words) > 1 else 1
    return [".".join(words[-count:]) for count in range(shortest, len(words) + 1)]


def _means_one(end: str, keys: Sequence[str]) -> bool:
    return sum(f".{key}".endswith(f".{end}") for key in keys) == 1
