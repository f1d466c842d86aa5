"""Vary any keys of a scenario and see what each value does."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from simulator.cli._options import Catalogs, Json, Overrides, Runs, Seed
from simulator.cli._study import Csv, Dask, Folder, Jobs, Plot, Vary

if TYPE_CHECKING:
    from simulator.cli._study import Session
    from simulator.studies.point import Base

Scenarios = Annotated[
    list[str], typer.Argument(metavar="SCENARIO...", help="YAML files, or shipped names such as studies/fewer-nics.")
]
Metrics = Annotated[
    list[str] | None,
    typer.Option("--metric", metavar="NAME", help="Such as step, mfu, days, dollars; the first is drawn."),
]
Quick = Annotated[bool, typer.Option("--quick", help="Step and memory only; no failures.")]

Tornado = Annotated[
    bool, typer.Option("--tornado", help="Instead: each uncertain input low and high, the most telling first.")
]


def command(
    scenarios: Scenarios,
    vary: Vary = None,
    overrides: Overrides = None,
    metrics: Metrics = None,
    quick: Quick = False,
    tornado: Tornado = False,
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
      foretrain sweep mine.yaml --tornado --metric days
    """
    from simulator.cli._streams import show, terminal
    from simulator.cli._study import base, session
    from simulator.errors import ScenarioError
    from simulator.io.printable import json_text
    from simulator.io.writing import fill
    from simulator.plots import canvas, what_if
    from simulator.report import rows as machine
    from simulator.report import sweep as report
    from simulator.studies import sweep
    from simulator.studies.metrics import column
    from simulator.studies.point import evaluate
    from simulator.studies.vary import axis

    axes = [axis(text) for text in vary or ()]
    if not axes and len(scenarios) == 1 and not tornado:
        raise ScenarioError("nothing is varied; give --vary KEY=[VALUE, VALUE], several scenarios, or --tornado")
    if tornado and (axes or len(scenarios) > 1):
        raise ScenarioError("--tornado bends the inputs of one scenario; leave --vary and other scenarios out")
    asked = [column(name) for name in metrics or ()]
    if plot is not None:
        canvas.check(plot)
    extra = [f"{key}={value}" for key, value in (("runs", runs), ("seed", seed)) if value is not None]
    columns = list(dict.fromkeys([*asked, *(sweep.QUICK_METRICS if quick else sweep.DEFAULT_METRICS)]))
    keys = ["scenario", *(one.key for one in axes)]

    with session(out=out, jobs=jobs, dask=dask) as work:
        bases = [base(name, overrides, catalogs, extra) for name in scenarios]
        if tornado:
            _bent(work, bases[0], asked, quick, as_csv=as_csv, as_json=as_json, plot=plot)
            return
        rows = work.rows(evaluate, sweep.points(bases, axes, quick=quick), "Sweeping")
        if as_csv:
            show(machine.csv_text(rows, keys))
        elif as_json:
            show(json_text({"axes": {one.key: one.values for one in axes}, "rows": rows}))
        else:
            show(report.write(rows, axes, columns, terminal()))
        drawn = next((name for name in columns if any(row.get(name) is not None for row in rows)), columns[0])
        if plot is not None:
            canvas.save(lambda drawing: what_if.draw(rows, axes, drawn, drawing), plot)
        if work.folder is not None:
            fill(work.folder, "rows.csv", machine.csv_text(rows, keys))
            for name, content in canvas.files(lambda drawing: what_if.draw(rows, axes, drawn, drawing), "sweep"):
                fill(work.folder, name, content)
    if not sweep.feasible(rows):
        raise typer.Exit(1)


def _bent(
    work: Session,
    start: Base,
    asked: list[str],
    quick: bool,
    *,
    as_csv: bool,
    as_json: bool,
    plot: Path | None,
) -> None:
    """Bend each uncertain input of one scenario, low and high."""
    from functools import partial

    from simulator.cli._streams import show, terminal
    from simulator.io.printable import json_text
    from simulator.io.writing import fill
    from simulator.plots import canvas
    from simulator.plots import tornado as drawing_of
    from simulator.report import rows as machine
    from simulator.report import tornado as report
    from simulator.studies import tornado

    metrics = asked or (["step_time_s"] if quick else ["step_time_s", "wall_clock_p50_s", "dollars_p50"])
    rows = work.rows(tornado.evaluate, tornado.bends(start, quick=quick), "Bending")
    if as_csv:
        show(machine.csv_text(rows))
    elif as_json:
        swings = {name: [swing._asdict() for swing in tornado.swings(rows, name)] for name in metrics}
        show(json_text({"swings": swings, "rows": rows}))
    else:
        show(report.write(rows, metrics, terminal()))
    drawn = next((name for name in reversed(metrics) if rows[0].get(name) is not None), None)
    draw = partial(drawing_of.draw, rows, drawn or "")
    if plot is not None and drawn is not None:
        canvas.save(draw, plot)
    if work.folder is not None:
        fill(work.folder, "rows.csv", machine.csv_text(rows))
        for name, content in canvas.files(draw, "tornado") if drawn is not None else ():
            fill(work.folder, name, content)
