"""Vary any keys of a scenario and see what each value does."""

from __future__ import annotations

from typing import Annotated

import typer

from simulator.cli._options import Catalogs, Json, Overrides, Runs, Seed
from simulator.cli._study import Csv, Dask, Folder, Jobs, Plot, Vary

Scenarios = Annotated[
    list[str], typer.Argument(metavar="SCENARIO...", help="YAML files, or shipped names such as studies/fewer-nics.")
]
Metrics = Annotated[
    list[str] | None,
    typer.Option("--metric", metavar="NAME", help="Such as step, mfu, days, dollars; the first is drawn."),
]
Quick = Annotated[bool, typer.Option("--quick", help="Step and memory only, on the fast clock; no failures.")]


def command(
    scenarios: Scenarios,
    vary: Vary = None,
    overrides: Overrides = None,
    metrics: Metrics = None,
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
    """Vary any keys of a scenario and see what each value does.

    Works out the product of all values, one row each. Points that contradict
    themselves are rows with the reason. What is drawn follows from what was
    varied: lines over numbers, bars over words, a heat map over two keys.

    Examples:
      foretrain sweep studies/fewer-nics --vary cluster.host.nics=[1,2,4,8]
      foretrain sweep mine.yaml --vary cluster.hosts=[64,128] --metric dollars
      foretrain sweep mine.yaml --vary 'training.microbatch={from: 1, to: 4,
        steps: 4}' --vary parallelism.tensor=[4,8] --quick --plot heat.png
      foretrain sweep a.yaml b.yaml --out study/     two scenarios, resumable
    """
    from simulator.cli._streams import show, terminal
    from simulator.cli._study import base, worked_out, write
    from simulator.errors import ScenarioError
    from simulator.plots import canvas, what_if
    from simulator.report import rows as machine
    from simulator.report import sweep as report
    from simulator.studies import sweep
    from simulator.studies.metrics import column
    from simulator.studies.point import evaluate
    from simulator.studies.vary import axis

    axes = [axis(text) for text in vary or ()]
    if not axes and len(scenarios) == 1:
        raise ScenarioError("nothing is varied; give --vary KEY=[VALUE, VALUE], or several scenarios")
    asked = [column(name) for name in metrics or ()]
    if plot is not None:
        canvas.check(plot)
    extra = [f"{key}={value}" for key, value in (("runs", runs), ("seed", seed)) if value is not None]
    bases = [base(name, overrides, catalogs, extra) for name in scenarios]
    points = sweep.points(bases, axes, quick=quick)
    columns = list(dict.fromkeys([*asked, *(sweep.QUICK_METRICS if quick else sweep.DEFAULT_METRICS)]))
    keys = ["scenario", *(one.key for one in axes)]

    with worked_out(evaluate, points, what="Sweeping", out=out, jobs=jobs, dask=dask) as rows:
        if as_csv:
            show(machine.csv_text(rows, keys))
        elif as_json:
            show(machine.json_text({"axes": {one.key: one.values for one in axes}, "rows": rows}))
        else:
            show(report.write(rows, axes, columns, terminal()))
        drawn = next((name for name in columns if any(row.get(name) is not None for row in rows)), columns[0])
        if plot is not None:
            canvas.save(lambda drawing: what_if.draw(rows, axes, drawn, drawing), plot)
        if out is not None:
            write(out / "rows.csv", machine.csv_text(rows, keys))
            for suffix in (".png", ".svg"):
                canvas.save(lambda drawing: what_if.draw(rows, axes, drawn, drawing), out / f"sweep{suffix}")
    if not sweep.feasible(rows):
        raise typer.Exit(1)
