"""Rank every parallelism layout that fits a cluster, and say why the best is the best."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from simulator.cli._options import Catalogs, Json, Overrides, Runs, Scenario, Seed
from simulator.cli._study import Csv, Dask, Folder, Jobs, Plot

if TYPE_CHECKING:
    from collections.abc import Mapping

    from simulator.outcome.results import Result
    from simulator.studies.best import Term
    from simulator.studies.layouts import Layout

Objective = Annotated[str, typer.Option("--objective", metavar="NAME", help="Rank by time, mfu, cost or days.")]
Top = Annotated[int, typer.Option("--top", metavar="N", min=1, max=200_000, help="Rows of the table.")]
Sure = Annotated[bool, typer.Option("--sure", help="Only layouts that surely fit, none that are tight.")]
Quick = Annotated[bool, typer.Option("--quick", help="Do not simulate the best layout and its run.")]

HEADS = {
    "best": "The best layout that `foretrain layouts` found.",
    "fastest": "The best layout that `foretrain layouts` found, which may run out of memory; best.yaml surely fits.",
}


def command(
    scenario: Scenario,
    overrides: Overrides = None,
    objective: Objective = "time",
    top: Top = 10,
    sure: Sure = False,
    quick: Quick = False,
    runs: Runs = None,
    seed: Seed = None,
    catalogs: Catalogs = None,
    as_csv: Csv = False,
    as_json: Json = False,
    plot: Plot = None,
    out: Folder = None,
    jobs: Jobs = None,
    dask: Dask = None,
) -> None:
    """Rank every parallelism layout that fits the cluster.

    Tries all combinations of tensor, pipeline, context, expert, chunks,
    schedule, microbatch, shard and recompute that divide; the scenario's
    `search` pins axes. What does not fit in memory is rejected with how far over
    it is; the rest is ranked, the best is simulated and explained against the
    runner-up. `--out` also writes the best as a scenario, best.yaml; where the
    best is tight, that is the best that surely fits, beside fastest.yaml.

    Examples:
      foretrain layouts studies/next-gpu
      foretrain layouts mine.yaml --set search.context=[1] --top 20
      foretrain layouts mine.yaml --objective cost --plot pareto.png
      foretrain layouts mine.yaml --out study/   rows, plot and best.yaml
    """
    from simulator.cli._streams import show, terminal, warn, working
    from simulator.cli._study import base, session
    from simulator.errors import ScenarioError
    from simulator.io.printable import json_text
    from simulator.plots import canvas, pareto
    from simulator.report import layouts as report
    from simulator.report import rows as machine
    from simulator.studies import best, ranking
    from simulator.studies.layouts import evaluate, groups, start
    from simulator.studies.space import Space

    if objective not in ranking.COLUMN:
        raise ScenarioError(f"--objective {objective[:40]}: one of {', '.join(ranking.COLUMN)}")
    if plot is not None:
        canvas.check(plot)
    extra = [f"{key}={value}" for key, value in (("runs", runs), ("seed", seed)) if value is not None]

    with session(out=out, jobs=jobs, dask=dask) as at_work:
        begin = start(base(scenario, overrides, catalogs, extra))
        asked = begin.read()
        space = Space(asked)
        work = groups(begin, space.layouts())
        found = at_work.rows(evaluate, work, "Layouts")
        if out is not None:
            _forget(out)
        layouts = [layout for group in work[: len(found)] for layout in group.layouts]
        rows = [row for group in found for row in group["layouts"]]
        known = dict(zip(map(id, rows), layouts, strict=True))
        if sure:
            rows = [row for row in rows if row["verdict"] != "tight"]
        best.time_exactly(asked, rows, [known[id(row)] for row in rows])
        order = ranking.ordered(rows)
        result: Result | None = None
        terms: tuple[Term, ...] = ()
        if order and not quick:
            with working("Simulating the best layout"):
                result, terms = _story(asked, order, known)
                best.add_runs(rows, result)
        order = ranking.ordered(rows, objective)
        _mark(rows, order)
        warn(asked.warnings)
        if as_csv:
            show(machine.csv_text(sorted(rows, key=_rank)))
        elif as_json:
            content = {
                "objective": objective,
                "best": order[0] if order else None,
                "explained": [term._asdict() for term in terms],
                "rejected": {"oom": sum(row["verdict"] == "oom" for row in rows), **space.without},
                "layouts": sorted(rows, key=_rank),
            }
            show(json_text(content))
        else:
            show(
                report.write(
                    rows,
                    objective=objective,
                    top=top,
                    without=space.without,
                    result=result,
                    terms=terms,
                    console=terminal(),
                    written=at_work.folder is not None,
                )
            )
        if plot is not None:
            canvas.save(lambda drawing: pareto.draw(rows, drawing), plot)
        chosen = {"best": ranking.sure(order)} if order else {}
        if order and chosen["best"] is not order[0]:
            chosen["fastest"] = order[0]
        if at_work.folder is not None:
            _fill(at_work.folder, rows, {name: known[id(row)].of(asked) for name, row in chosen.items()})
    if not order:
        raise typer.Exit(1)


def _story(asked: Any, order: list[dict[str, Any]], known: dict[int, Layout]) -> tuple[Result, tuple[Term, ...]]:
    """Return the result of the best layout, and its step beside that of the runner-up."""
    from simulator.studies import best

    first, second = known[id(order[0])].of(asked), best.runner_up(order)
    terms = best.explained(first, known[id(second)].of(asked)) if second is not None else ()
    return best.run(first), terms


def _mark(rows: list[dict[str, Any]], order: list[dict[str, Any]]) -> None:
    """Give every row its rank, its place among those that can be told apart, and whether it is on the front."""
    from simulator.studies import ranking

    front = {id(row) for row in ranking.pareto(order)}
    places = dict(zip(map(id, order), ranking.places(order), strict=True))
    ranks = {id(row): rank for rank, row in enumerate(order, 1)}
    for row in rows:
        row["rank"], row["place"], row["pareto"] = ranks.get(id(row)), places.get(id(row)), id(row) in front


def _rank(row: Mapping[str, Any]) -> float:
    return row["rank"] or float("inf")


def _forget(folder: Path) -> None:
    """Remove the scenarios of an earlier answer, those that still begin as this verb writes them."""
    from contextlib import suppress

    from simulator.io.files import UnreadableError, text
    from simulator.scenario.yaml_text import LARGEST

    for name, head in HEADS.items():
        path = folder / f"{name}.yaml"
        with suppress(UnreadableError):
            if text(path, largest=LARGEST).startswith(f"# {head}\n"):
                path.unlink()


def _fill(folder: Path, rows: list[dict[str, Any]], chosen: Mapping[str, Any]) -> None:
    """Write the table, the plot, and as scenarios the best layout that surely fits and a tight one that is better."""
    import yaml

    from simulator.io.writing import fill
    from simulator.plots import canvas, pareto
    from simulator.report import rows as machine
    from simulator.studies import best

    fill(folder, "rows.csv", machine.csv_text(sorted(rows, key=_rank)))
    for name, content in canvas.files(lambda drawing: pareto.draw(rows, drawing), "pareto"):
        fill(folder, name, content)
    for name, layout in chosen.items():
        text = yaml.safe_dump(best.document(layout), sort_keys=False, allow_unicode=True, width=100)
        fill(folder, f"{name}.yaml", f"# {HEADS[name]}\n{text}")
