"""Say when a run under way will end, from its log and its failures so far."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from simulator.cli._options import Catalogs, Json, Overrides, Runs, Scenario, Seed
from simulator.cli._study import Jobs, Plot

if TYPE_CHECKING:
    from simulator.studies.forecast.evidence import Told

LogFile = Annotated[
    Path, typer.Option("--log", metavar="FILE", help="The log of the run so far, plain or gzip; `-` is standard input.")
]
Failures = Annotated[
    str | None,
    typer.Option("--failures", metavar="N|FILE", help="Failures so far: how many, or a CSV with a row for each."),
]
Elapsed = Annotated[
    str | None, typer.Option("--elapsed", metavar="TIME", help="Time since the run began, such as 12d.")
]
Deadline = Annotated[
    str | None, typer.Option("--deadline", metavar="TIME", help="Wall clock of the whole run; as targets.deadline.")
]
Budget = Annotated[
    str | None, typer.Option("--budget", metavar="DOLLARS", help="Dollars of the whole run; as targets.budget.")
]
Folder = Annotated[Path | None, typer.Option("--out", metavar="DIR", help="Write the JSON and the picture here.")]


def command(
    scenario: Scenario,
    log: LogFile,
    failures: Failures = None,
    elapsed: Elapsed = None,
    deadline: Deadline = None,
    budget: Budget = None,
    overrides: Overrides = None,
    catalogs: Catalogs = None,
    runs: Runs = None,
    seed: Seed = None,
    as_json: Json = False,
    plot: Plot = None,
    out: Folder = None,
    jobs: Jobs = None,
) -> None:
    """Say when a run under way will end, from its log and its failures so far.

    The prediction is what was believed before; the steps of the log, its
    restarts and the time that they took correct it, and the steps that are left
    are simulated: finish, dollars and goodput with P10, P50 and P90, where the
    run has left its predicted range and since when, and what a change for the
    rest saves. Reads the same logs as explain. Exits 1 when a deadline or a
    budget is missed with more than the accepted risk, or the run never ends.

    Examples:
      foretrain forecast mine.yaml --log train.log
      foretrain forecast mine.yaml --log train.log --deadline 60d
      foretrain forecast mine.yaml --log train.log --failures 12 --elapsed 9d
    """
    from functools import partial

    from simulator import shipped
    from simulator.cli._files import log_text
    from simulator.cli._streams import show, terminal, warn, working
    from simulator.io.printable import json_text
    from simulator.io.writing import fill
    from simulator.plots import canvas, forecast_fan
    from simulator.report import forecast as report
    from simulator.scenario import read
    from simulator.studies.executors import spread
    from simulator.studies.forecast import record
    from simulator.studies.forecast.forecast import forecast

    if plot is not None:
        canvas.check(plot)
    given = {"targets.deadline": deadline, "targets.budget": budget, "runs": runs, "seed": seed}
    changes = [*(overrides or ()), *(f"{key}={value}" for key, value in given.items() if value is not None)]
    path = Path("-") if scenario == "-" else shipped.find(scenario)
    asked = read(path, overrides=changes, catalogs=catalogs or ())
    said = _told(failures, elapsed)
    with working(f"Forecasting {asked.name or scenario}"):
        told = forecast(log_text(log), str(log), asked, said, partial(spread, jobs=jobs))
    warn(told.warnings)
    text = json_text(record.told(told))
    show(text if as_json else report.write(told, terminal()))
    if plot is not None:
        canvas.save(lambda axes: forecast_fan.draw(told, axes), plot)
    if out is not None:
        fill(out, "forecast.json", text)
        for name, content in canvas.files(lambda axes: forecast_fan.draw(told, axes), "finish"):
            fill(out, name, content)
    if told.is_no:
        raise typer.Exit(1)


def _told(failures: str | None, elapsed: str | None) -> Told:
    """Return what the options say of the run so far."""
    from simulator.cli._amounts import amount
    from simulator.cli._files import text_of
    from simulator.errors import ScenarioError
    from simulator.studies.forecast.evidence import Told
    from simulator.studies.forecast.failures_so_far import listed

    passed = amount("--elapsed", elapsed, "s")
    if passed is not None and not passed > 0:
        raise ScenarioError("--elapsed: the time since the run began is more than nothing")
    if failures is None:
        return Told(elapsed=passed)
    if failures.isdecimal() and len(failures) < 10:
        return Told(failures=int(failures), elapsed=passed)
    if not Path(failures).exists():
        raise ScenarioError(f"--failures {failures[:80]}: neither a number nor a file")
    count, away = listed(text_of(Path(failures)), failures)
    return Told(failures=count, away=away, elapsed=passed)
