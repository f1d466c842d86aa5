"""Simulate a training run: verdict, step, memory, days, goodput and cost."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from simulator import shipped
from simulator.cli._options import Catalogs, Json, Out, Overrides, Runs, Scenario, Seed
from simulator.cli._streams import show, terminal, warn, working
from simulator.cli._study import Jobs

if TYPE_CHECKING:
    from simulator.outcome.results import Result

Trace = Annotated[
    Path | None,
    typer.Option("--trace", metavar="FILE", help="Write the step as a Chrome trace, for ui.perfetto.dev."),
]
FailUnder = Annotated[
    list[str] | None,
    typer.Option(
        "--fail-under",
        metavar="KEY=VALUE",
        help="Exit 1 when a result such as mfu or goodput is lower; may be repeated.",
    ),
]


def command(
    scenario: Scenario,
    overrides: Overrides = None,
    catalogs: Catalogs = None,
    runs: Runs = None,
    seed: Seed = None,
    as_json: Json = False,
    out: Out = None,
    trace: Trace = None,
    fail_under: FailUnder = None,
    jobs: Jobs = None,
) -> None:
    """Simulate a training run and say what it will do.

    Prints the verdict (does it fit?), the step with its parts, MFU and HFU, the
    memory of the worst stage, how busy links are and from what bandwidth on
    more is no use, P10/P50/P90 of the days, goodput and where the
    time went, GPU-hours, dollars and energy. Exits 1 when the answer is no:
    it does not fit, makes no progress, or misses a deadline or a budget of
    `targets` with more than the risk accepted there.

    Examples:
      foretrain run tutorial/1-one-host
      foretrain run mine.yaml --set parallelism.tensor=4 --set failures.scale=2
      foretrain run mine.yaml --out mine/       report, plots, trace and JSON
      foretrain run mine.yaml --json --fail-under mfu=0.4
    """
    path = shipped.find(scenario)
    from simulator.api.runs import simulate
    from simulator.report.threshold import misses
    from simulator.scenario import read

    changes = [*(overrides or ()), *_given("runs", runs), *_given("seed", seed)]
    asked = read(path, overrides=changes, catalogs=catalogs or ())
    with working(f"Simulating {asked.name or scenario}"):
        result = simulate(asked, jobs=jobs)
    missed = misses(result, fail_under or ())
    present(result, as_json=as_json, out=out, trace=trace)
    warn(missed)
    if missed or result.verdict == "oom" or not result.run.progress or result.targets.get("missed"):
        raise typer.Exit(1)


def present(result: Result, *, as_json: bool = False, out: Path | None = None, trace: Path | None = None) -> None:
    """Print `result` and write the files that were asked for."""
    from simulator.io.writing import write
    from simulator.report import record, text
    from simulator.trace import chrome

    warn(result.warnings)
    show(record.write(result) if as_json else text.write(result, terminal()))
    if trace is not None:
        write(trace, chrome(result))
    if out is not None:
        _fill(out, result)


def _fill(folder: Path, result: Result) -> None:
    from simulator.io.writing import fill
    from simulator.plots import gallery
    from simulator.report import html, record
    from simulator.trace import chrome

    with working(f"Writing {folder}"):
        fill(folder, "report.html", html.write(result))
        fill(folder, "result.json", record.write(result))
        fill(folder, "trace.json", chrome(result))
        for name, content in gallery.files(result):
            fill(folder, f"plots/{name}", content)


def _given(key: str, value: int | None) -> list[str]:
    return [] if value is None else [f"{key}={value}"]
