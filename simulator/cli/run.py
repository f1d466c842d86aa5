"""Simulate a training run: verdict, step, memory, days, goodput and cost."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from simulator import shipped
from simulator.cli._options import Catalogs, Json, Out, Overrides, Runs, Scenario, Seed
from simulator.cli._streams import show, terminal, warn, working

if TYPE_CHECKING:
    from simulator.results import Result

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
) -> None:
    """Simulate a training run and say what it will do.

    Prints the verdict (does it fit?), the step with its parts, MFU and HFU, the
    memory of the worst stage, how busy links are and from what bandwidth on
    more is no use, P10/P50/P90 of the days, goodput and where the
    time went, GPU-hours, dollars and energy. Exits 1 when the answer is no.

    Examples:
      foretrain run tutorial/1-one-host
      foretrain run mine.yaml --set parallelism.tensor=4 --set failures.scale=2
      foretrain run mine.yaml --out mine/       report, plots, trace and JSON
      foretrain run mine.yaml --json --fail-under mfu=0.4
    """
    path = shipped.find(scenario)
    from simulator.report.threshold import misses
    from simulator.scenario import read
    from simulator.simulation import simulate
    from simulator.studies.transfers import network_answers

    changes = [*(overrides or ()), *_given("runs", runs), *_given("seed", seed)]
    asked = read(path, overrides=changes, catalogs=catalogs or ())
    with working(f"Simulating {asked.name or scenario}"):
        result = network_answers(asked, simulate(asked))
    if result.verdict in ("oom", "tight"):
        from simulator.studies.advice import advise

        result = replace(result, advice=advise(asked))
    missed = misses(result, fail_under or ())
    present(result, as_json=as_json, out=out, trace=trace)
    warn(missed)
    if missed or result.verdict == "oom" or not result.run.progress:
        raise typer.Exit(1)


def present(result: Result, *, as_json: bool = False, out: Path | None = None, trace: Path | None = None) -> None:
    """Print `result` and write the files that were asked for."""
    from simulator.cli._files import write
    from simulator.report import record, text
    from simulator.trace import chrome

    warn(result.warnings)
    show(record.write(result) if as_json else text.write(result, terminal()))
    if trace is not None:
        write(trace, chrome(result))
    if out is not None:
        _fill(out, result)


def _fill(folder: Path, result: Result) -> None:
    from simulator.cli._files import write
    from simulator.plots import gallery
    from simulator.report import html, record
    from simulator.trace import chrome

    with working(f"Writing {folder}"):
        write(folder / "report.html", html.write(result))
        write(folder / "result.json", record.write(result))
        write(folder / "trace.json", chrome(result))
        gallery.save(result, folder / "plots")


def _given(key: str, value: int | None) -> list[str]:
    return [] if value is None else [f"{key}={value}"]
