"""The best layouts, told in full: timed exactly, simulated, explained against the runner-up, written as a scenario."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from simulator.engine.prices.assembly import assembly
from simulator.engine.step import simulated
from simulator.outcome.results import STEP_PARTS, Result
from simulator.scenario import Scenario
from simulator.scenario.echo import echo
from simulator.scenario.shape import shape
from simulator.simulation import simulate, spread_out, useful_work
from simulator.studies.layouts import Layout, exactly, speed
from simulator.studies.point import certain
from simulator.studies.ranking import folded, ordered
from simulator.studies.store import Row
from simulator.units import Seconds
from simulator.workload.layout import Parallelism
from simulator.workload.training import Recompute

Parts = dict[str, Seconds]
"""Seconds of each part of a step."""
SIMULATED = 10
"""Layouts, at least, whose steps are simulated."""
NEAR = 1.02
"""A lower bound within this of the shortest step is worked out task by task, where that of a long step is one of a
short step and a rhythm (`tests/engine/test_clocks.py` holds it to that)."""
EXACT = 50
"""Layouts, at most, whose bounds are worked out so."""


class Term(NamedTuple):
    """What one part of the step takes in the best layout and in the runner-up."""

    name: str
    best: Seconds
    other: Seconds


def time_exactly(start: Scenario, rows: Sequence[Row], layouts: Sequence[Layout]) -> dict[int, Parts]:
    """Replace the speed of the best rows by that of a simulated step; `layouts` are those of `rows`.

    Returns the parts of the simulated steps by the id of their row.

    Rows are taken in the order of their lower bounds until the next bound is above the shortest step that was
    simulated: no other layout can then have a shorter one. `simulated` says which rows were.
    """
    layout_of = {id(row): layout for row, layout in zip(rows, layouts, strict=True)}
    for row in rows:
        row["simulated"] = False
    order = ordered(rows)
    parts = {id(row): _simulate(start, layout_of[id(row)], row) for row in order[:SIMULATED]}
    shortest = min((row["step_time_s"] for row in order[:SIMULATED]), default=math.inf)
    near = [row for row in order[SIMULATED:] if row["step_time_s"] <= NEAR * shortest][:EXACT]
    for row, bound in zip(near, exactly([layout_of[id(row)].of(start) for row in near]), strict=True):
        row.update(bound)
    for row in ordered(near):
        if row["step_time_s"] > shortest:
            break
        parts[id(row)] = _simulate(start, layout_of[id(row)], row)
        shortest = min(shortest, row["step_time_s"])
    return parts


def _simulate(start: Scenario, layout: Layout, row: Row) -> Parts:
    """Give a row the speed of its simulated step, and return the parts of that."""
    scenario = layout.of(start)
    timing = simulated.time(assembly(scenario).step())
    row.update(speed(scenario, timing.seconds), simulated=True)
    row["ideal_s"] = useful_work(scenario, row["step_time_s"])
    return spread_out(scenario, timing)[1]


def run(scenario: Scenario) -> Result:
    """Return the whole story of the best layout."""
    return simulate(certain(replace(scenario, resolved=document(scenario))))


def add_runs(rows: Sequence[Row], result: Result) -> None:
    """Give every layout days and dollars: its own time without failures, lengthened as the best layout's run is.

    Failures, saves and what is rented are those of the cluster and the model, not of the layout.
    """
    run, cost = result.run, result.cost
    for row in rows:
        if row.get("ideal_s") and run.progress and run.ideal_s:
            longer = row["ideal_s"] / run.ideal_s
            row["wall_clock_p50_s"] = run.wall_clock_s.p50 * longer
            row["wall_clock_p90_s"] = run.wall_clock_s.p90 * longer
            row["dollars_p50"] = cost.dollars.p50 * longer


def runner_up(order: Sequence[Row]) -> Row | None:
    """Return the best layout that is not the best by another name."""
    others = folded(order[: 4 * EXACT])
    return others[1][0] if len(others) > 1 else None


def explained(best: Scenario, other: Scenario) -> tuple[Term, ...]:
    """Return what each part of the step takes in two layouts; the parts of each sum to its step."""
    one, two = (_parts(scenario) for scenario in (best, other))
    names = [name for name in STEP_PARTS if one.get(name, 0.0) > 0 or two.get(name, 0.0) > 0]
    return tuple(Term(name, one.get(name, 0.0), two.get(name, 0.0)) for name in names)


def _parts(scenario: Scenario) -> dict[str, Seconds]:
    return spread_out(scenario, simulated.time(assembly(scenario).step()))[1]


def document(scenario: Scenario) -> dict[str, Any]:
    """Return a scenario as plain data that reads back, in its own layout instead of the one it was read with."""
    plain = {name: value for name, value in scenario.resolved.items() if name not in ("search", "expect")}
    training = {**plain["training"], "microbatch": scenario.training.microbatch}
    training["recompute"] = echo(shape(Recompute), scenario.training.recompute)
    return {**plain, "parallelism": echo(shape(Parallelism), scenario.parallelism), "training": training}
