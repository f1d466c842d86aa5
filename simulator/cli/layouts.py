"""Rank every parallelism layout that fits a cluster, and say why the best is the best."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from simulator.cli._options import Catalogs, Json, Overrides, Runs, Scenario, Seed
from simulator.cli._study import Csv, Dask, Folder, Jobs, Plot

if TYPE_CHECKING:
    from simulator.studies.best_layout import LayoutSearch

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
    from simulator.io.printable import json_text
    from simulator.plots import canvas, pareto
    from simulator.report import layouts as report
    from simulator.report import rows as machine
    from simulator.studies.best_layout import LayoutSearch
    from simulator.studies.layouts import evaluate

    if plot is not None:
        canvas.check(plot)
    extra = [f"{key}={value}" for key, value in (("runs", runs), ("seed", seed)) if value is not None]

    with session(out=out, jobs=jobs, dask=dask) as at_work:
        search = LayoutSearch(base(scenario, overrides, catalogs, extra), objective)
        found = at_work.rows(evaluate, search.groups, "Layouts")
        if out is not None:
            _forget(out)
        search.take(found, sure=sure)
        if search.order and not quick:
            with working("Simulating the best layout"):
                search.tell()
        search.rank()
        warn(search.asked.warnings)
        if as_csv:
            show(machine.csv_text(search.ranked))
        elif as_json:
            show(json_text(search.record()))
        else:
            show(report.write(search, top=top, console=terminal(), written=at_work.folder is not None))
        if plot is not None:
            canvas.save(lambda drawing: pareto.draw(search.rows, drawing), plot)
        if at_work.folder is not None:
            _fill(at_work.folder, search)
    if not search.order:
        raise typer.Exit(1)


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


def _fill(folder: Path, search: LayoutSearch) -> None:
    """Write the table, the plot, and as scenarios the best layout that surely fits and a tight one that is better."""
    import yaml

    from simulator.io.writing import fill
    from simulator.plots import canvas, pareto
    from simulator.report import rows as machine
    from simulator.studies import best

    fill(folder, "rows.csv", machine.csv_text(search.ranked))
    for name, content in canvas.files(lambda drawing: pareto.draw(search.rows, drawing), "pareto"):
        fill(folder, name, content)
    for name, row in search.chosen().items():
        text = yaml.safe_dump(best.document(search.layout(row)), sort_keys=False, allow_unicode=True, width=100)
        fill(folder, f"{name}.yaml", f"# {HEADS[name]}\n{text}")
