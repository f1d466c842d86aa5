"""Try failure and checkpoint policies over many runs, and find the best."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from simulator.cli._options import Catalogs, Json, Overrides, Runs, Scenario, Seed
from simulator.cli._study import Csv, Dask, Folder, Jobs, Plot, Vary

if TYPE_CHECKING:
    from simulator.cli._study import Session
    from simulator.studies.trial import Trial

Objective = Annotated[str, typer.Option("--objective", metavar="NAME", help="Best by dollars, days or goodput.")]


def command(
    scenario: Scenario,
    vary: Vary = None,
    overrides: Overrides = None,
    objective: Objective = "dollars",
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
    """Try failure and checkpoint policies over many runs.

    Varies policies (checkpoint, recovery, cluster.spares, cluster.storage) and
    conditions (failures, prices). All meet the same failures, run by run; those
    that may be the best get more runs until they differ for sure, or the
    scenario's `runs` are used up. The step is simulated once.

    Examples:
      foretrain stress studies/how-often-to-save
        --vary checkpoint.interval=[2min,5min,10min,20min,60min]
      foretrain stress mine.yaml --vary cluster.spares=[0,2,4,8]
        --vary failures.scale=[1,2,4] --objective days --plot spares.png
      foretrain stress mine.yaml --runs 500 --out study/
        --vary 'checkpoint=[young-daly, {kind: fixed, interval: 30min}]'
    """
    from simulator.cli._streams import show, terminal, working
    from simulator.cli._study import base, session
    from simulator.errors import ScenarioError
    from simulator.io.printable import json_text
    from simulator.plots import canvas, policies
    from simulator.report import rows as machine
    from simulator.report import stress as report
    from simulator.studies import stress, trial
    from simulator.studies.vary import axis, choices

    if objective not in stress.OBJECTIVES:
        raise ScenarioError(f"--objective {objective[:40]}: one of {', '.join(stress.OBJECTIVES)}")
    axes = [axis(text) for text in vary or ()]
    if not axes:
        raise ScenarioError(
            "nothing is varied; give --vary KEY=[VALUE, VALUE], such as checkpoint.interval=[5min,20min]"
        )
    stress.check(axes)
    if plot is not None:
        canvas.check(plot)
    extra = [f"{key}={value}" for key, value in (("runs", runs), ("seed", seed)) if value is not None]

    with session(out=out, jobs=jobs, dask=dask) as at_work:
        start = base(scenario, overrides, catalogs, extra)
        chosen = list(choices(axes))
        asked = stress.readable(start, chosen)
        with working("Simulating the step"):
            work = trial.work(asked)
        trials = [trial.Trial(start, choice, work) for choice in chosen]
        _run(trials, asked.runs, objective, at_work)
        rows = stress.rows(trials, objective)
        if as_csv:
            show(machine.csv_text(rows))
        elif as_json:
            content = {"objective": objective, "axes": {one.key: one.values for one in axes}, "rows": rows}
            show(json_text(content))
        else:
            show(report.write(rows, axes, objective, terminal()))
        metric = stress.OBJECTIVES[objective]
        if plot is not None:
            canvas.save(lambda drawing: policies.draw(rows, axes, metric, drawing), plot)
        if at_work.folder is not None:
            _fill(at_work.folder, rows, axes, metric)
    if not any(row["best"] for row in rows):
        raise typer.Exit(1)


def _run(trials: list[Trial], runs: int, objective: str, at_work: Session) -> None:
    from collections.abc import Sequence

    from simulator.studies import stress
    from simulator.studies.store import Row
    from simulator.studies.trial import Batch, evaluate

    def worked_out(batches: Sequence[Batch]) -> list[Row]:
        if at_work.interrupted:
            return []
        many = max(batch.first + batch.runs for batch in batches)
        return at_work.rows(evaluate, batches, f"{len(batches):,} policies, up to {many:,} runs")

    stress.play(trials, runs, objective, worked_out)


def _fill(folder: Path, rows: list[dict[str, Any]], axes: Any, metric: str) -> None:
    from simulator.io.writing import fill
    from simulator.plots import canvas, policies
    from simulator.report import rows as machine

    fill(folder, "policies.csv", machine.csv_text(rows))
    for name, content in canvas.files(lambda drawing: policies.draw(rows, axes, metric, drawing), "policies"):
        fill(folder, name, content)
