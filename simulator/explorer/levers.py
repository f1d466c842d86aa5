"""What binds, and the next best lever: of all layouts that differ in one axis, those whose step is shorter and fits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from simulator.errors import ForetrainError
from simulator.explorer.settings import KEYS, of_scenario, settings, words
from simulator.outcome.difference import loadings, shorter
from simulator.outcome.results import Result
from simulator.scenario import Scenario
from simulator.studies.layouts import evaluate as of_group
from simulator.studies.layouts import exactly, groups
from simulator.studies.point import Base
from simulator.studies.space import Space
from simulator.studies.store import Row
from simulator.units import Number, Seconds, Share

AXES = ("tensor", "pipeline", "context", "expert", "schedule", "microbatch", "shard", "recompute")
WITH = {"pipeline": ("pipeline", "schedule", "chunks"), "schedule": ("schedule", "chunks")}
"""Axes that are free together: another number of stages deals the layers to other chunks."""


@dataclass(frozen=True)
class Lever:
    axis: str
    what: str
    settings: tuple[str, ...]
    step_time_s: Seconds
    time: Share
    """Step time over that of the scenario as it is, less 1."""
    p_faster: Share
    """The chance that it really is shorter."""


def levers(base: Base) -> tuple[Lever, ...]:
    """Return the best change of each axis that makes the step shorter, the best first."""
    scenario = base.read()
    if scenario.model is None or scenario.parallelism is None or scenario.training.step_time is not None:
        return ()
    now = exactly([scenario])[0]["step_time_s"]
    found = [lever for axis in AXES if (lever := _best(base, scenario, axis, now))]
    return tuple(sorted(found, key=lambda lever: lever.time))


def binding(result: Result) -> tuple[str, Share] | None:
    """Return what takes the largest share of the peak, and that share."""
    if len(result.step.waterfall) < 3:
        return None
    (_, peak), *causes, _ = result.step.waterfall
    cause, taken = max(causes, key=lambda pair: pair[1])
    return (cause, taken / peak) if taken > 0 else None


def _best(base: Base, scenario: Scenario, axis: str, now: Seconds) -> Lever | None:
    rows = [row for row in _rows(base, scenario, axis) if row["verdict"] == "fits"]
    best = min(rows, key=lambda row: row["step_time_s"], default=None)
    if best is None or best["step_time_s"] >= now:
        return None
    changes = settings(best, scenario)
    if not changes:
        return None
    ratio = best["step_time_s"] / now
    return Lever(
        axis, _what(best, scenario, axis), changes, best["step_time_s"], ratio - 1, _faster(base, changes, ratio)
    )


def _faster(base: Base, changes: tuple[str, ...], ratio: Number) -> Share:
    """Return the chance that a changed layout has the shorter step; their parts are taken to be alike."""
    other = replace(base, changes=(*base.changes, *changes)).read()
    return shorter(ratio, loadings(other, {}), loadings(base.read(), {}))


def _rows(base: Base, scenario: Scenario, axis: str) -> Iterator[Row]:
    """Yield the layouts that differ in `axis` alone."""
    own = of_scenario(scenario)
    pinned = {name: (own[name],) for name in (*KEYS, "chunks") if name not in WITH.get(axis, (axis,))}
    if own["chunks"] == 1:
        pinned.pop("chunks", None)
    try:
        for group in groups(base, Space(replace(scenario, search=pinned)).layouts()):
            yield from of_group(group)["layouts"]
    except ForetrainError:
        return


def _what(row: Row, scenario: Scenario, axis: str) -> str:
    own = of_scenario(scenario)
    if axis in ("pipeline", "schedule"):
        return words({**row, "tensor": 1, "context": 1, "expert": 1, "data": 1, "shard": "none", "recompute": "none"})
    return f"{axis} {row[axis]} instead of {own[axis]}"
