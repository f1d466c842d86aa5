"""Put scenarios side by side and explain the ratio of their times and costs, factor by factor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from simulator.cli._options import Catalogs, Json, Overrides, Runs, Seed
from simulator.cli._study import Csv, Jobs

if TYPE_CHECKING:
    from simulator.scenario import Scenario
    from simulator.studies.breakeven import Even
    from simulator.studies.point import Base

Scenarios = Annotated[list[str], typer.Argument(metavar="SCENARIO...", help="Two or more; the first is the measure.")]
With = Annotated[
    list[str] | None,
    typer.Option("--with", metavar="KEY=VALUE", help="One more option: the first scenario with this change."),
]
Solve = Annotated[
    str | None,
    typer.Option("--solve", metavar="KEY", help="Find the value in the last scenario that makes them equal."),
]
Figure = Annotated[
    str, typer.Option("--metric", metavar="NAME", help="What --solve makes equal: dollars, days or step.")
]
FIGURES = {"dollars": "dollars_mean", "cost": "dollars_mean", "days": "wall_clock_mean_s", "step": "step_time_s"}


def command(
    scenarios: Scenarios,
    changes: With = None,
    overrides: Overrides = None,
    solve: Solve = None,
    metric: Figure = "dollars",
    runs: Runs = None,
    seed: Seed = None,
    catalogs: Catalogs = None,
    as_csv: Csv = False,
    as_json: Json = False,
    jobs: Jobs = None,
) -> None:
    """Put scenarios side by side and say why they differ.

    Prints which inputs differ, the figures of each, and step time, days and
    dollars as factors (peak, kernel efficiency, exposed communication, bubble,
    recompute, failures, price) that multiply to the ratio; and the chance that
    each takes less than the first, where errors that both share cancel. With
    --solve, the price, bandwidth or failure rate at which the last equals the
    first.

    Examples:
      foretrain compare a.yaml b.yaml
      foretrain compare studies/next-gpu --with cluster.host=hgx-b200
      foretrain compare a.yaml b.yaml --solve prices.gpu_hour
      foretrain compare a.yaml b.yaml --solve failures.scale --metric days
    """
    from dataclasses import replace

    from simulator.cli._streams import show, terminal, warn, working
    from simulator.cli._study import base
    from simulator.errors import ScenarioError
    from simulator.io.printable import json_text
    from simulator.report import comparison
    from simulator.report import rows as machine
    from simulator.studies import compare, side_by_side
    from simulator.studies.columns import of_result

    if metric not in FIGURES:
        raise ScenarioError(f"--metric {metric[:40]}: one of dollars, days, step")
    extra = [f"{key}={value}" for key, value in (("runs", runs), ("seed", seed)) if value is not None]
    bases = [base(name, overrides, catalogs, extra) for name in scenarios]
    bases += [replace(bases[0], changes=(*(overrides or ()), change, *extra)) for change in changes or ()]
    if len(bases) < 2:
        raise ScenarioError("one scenario is nothing to compare; name another, or change it with --with KEY=VALUE")
    asked = [one.read() for one in bases]
    with working("Simulating"):
        results = side_by_side.simulated(asked, jobs)
    names = [*(one.name for one in asked[: len(scenarios)]), *(changes or ())]
    rows = [
        {"scenario": name, **of_result(result, one.gpus)}
        for name, one, result in zip(names, asked, results, strict=True)
    ]
    differing = compare.differences([one.resolved for one in asked])
    ratios, chances = side_by_side.ratios(asked, results), side_by_side.chances(asked, results)
    solved = None
    if solve is not None:
        with working(f"Solving for {solve}"):
            solved = _solved(solve, metric, bases[-1], asked[-1], rows[0])
    for name, result in zip(names, results, strict=True):
        warn(f"{name}: {warning}" for warning in result.warnings)
    if as_csv:
        show(machine.csv_text(rows))
    elif as_json:
        told = side_by_side.record(rows, differing, ratios, chances)
        show(json_text(told | {"even": solved._asdict() if solved else None}))
    else:
        show(comparison.write(names, rows, differing, ratios, chances, solved, metric, terminal()))
    if any(result.verdict == "oom" or not result.run.progress for result in results):
        raise typer.Exit(1)


def _solved(key: str, metric: str, last: Base, scenario: Scenario, first: dict[str, Any]) -> Even:
    from simulator.errors import InfeasibleError
    from simulator.studies.breakeven import even
    from simulator.studies.point import Point, evaluate

    column = FIGURES[metric]
    target = first[column]
    if target is None or first["progress"] is False:
        raise InfeasibleError(f"--solve: the first scenario has no {metric} to reach")

    def figure(value: str) -> float | None:
        row = evaluate(Point(last, ((key, value),), quick=metric == "step"))
        return None if row.get("progress") is False else row[column]

    return even(key, scenario.resolved, figure, target)
