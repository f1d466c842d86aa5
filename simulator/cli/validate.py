"""Compare predictions with published measurements, or with your own table."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from simulator.cli._options import Json
from simulator.cli._streams import show, working

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simulator.engine.prices.constants import Shared
    from simulator.scenario import Scenario
    from simulator.validation.files import Table
    from simulator.validation.lines import Line
    from simulator.validation.predict import Prediction

Files = Annotated[
    list[Path] | None,
    typer.Argument(metavar="[FILE.csv]...", help="Tables of measurements; those that ship where left out."),
]
Csv = Annotated[bool, typer.Option("--csv", help="Print one row a quantity, as CSV.")]
Plot = Annotated[
    Path | None,
    typer.Option("--plot", metavar="FILE", help="Draw predicted against measured, as PNG, SVG or PDF."),
]
Families = Annotated[
    list[str] | None, typer.Option("--family", metavar="NAME", help="Only this family; may be repeated.")
]
Without = Annotated[
    list[str] | None,
    typer.Option("--without", metavar="TERM", help="Switch a term off, such as recompute; may be repeated."),
]


LeaveOut = Annotated[
    str | None,
    typer.Option(
        "--leave-out",
        metavar="each|NAME",
        help="Predict a family of runs with shared constants fitted on all the others, a generation of links (nvlink4, "
        "...) with what the others attain, or each of both.",
    ),
]
FITTED = 60
"""Runs of a family that a fit looks at."""


def command(
    files: Files = None,
    as_csv: Csv = False,
    as_json: Json = False,
    plot: Plot = None,
    families: Families = None,
    without: Without = None,
    leave_out: LeaveOut = None,
) -> None:
    """Compare predictions with measurements.

    The columns of a table say what it is: training runs, matrix products,
    attention, layers of experts, memory-bound kernels, collectives, expert
    exchanges, reliability cases; gzip'd tables are read as they are. Prints n,
    median, mean and P90 of the error and its bias by family, how well layouts
    are ranked, how near collectives are meant to be and how far their sources
    are apart, and why rows could not be predicted.

    Examples:
      foretrain validate
      foretrain validate mine.csv --csv > rows.csv
      foretrain validate --family KOR --family NAR --plot errors.svg
      foretrain validate --without recompute
      foretrain validate --leave-out each
      foretrain validate collectives.csv --leave-out nvlink4
    """
    from simulator.studies.executors import processors
    from simulator.validation import files as tables
    from simulator.validation import goals, lines, summary, terms

    off = terms.known(without or ())
    read = [tables.read(path) for path in files or tables.shipped()]
    with working(f"Predicting {sum(len(table.rows) for table in read):,} rows"):
        if leave_out is None:
            found = tables.lines(read, Predict(off), families or (), workers=processors())
        else:
            found = _left_out(read, leave_out, families or (), off)
    factor = 1.0 if leave_out is None else goals.LEFT_OUT
    if plot is not None:
        _draw(found, plot)
    if as_csv:
        show(lines.csv_text(found))
    elif as_json:
        show(summary.json_text(summary.summary(found, factor), found))
    else:
        from simulator.validation.tables import write

        show(write(summary.summary(found, factor)))


@dataclass(frozen=True)
class Predict:
    """The predictor with some terms off; kernels need none, so it is imported with the first scenario."""

    without: frozenset[str] = frozenset()
    learned: Shared | None = None

    def __call__(self, scenario: Scenario) -> Prediction:
        from simulator import simulation

        return simulation.predict(scenario, learned=self.learned, without=self.without)


def _left_out(read: Sequence[Table], wanted: str, families: Sequence[str], off: frozenset[str]) -> tuple[Line, ...]:
    """Return the lines of runs and collectives, predicted with constants that they had no part in."""
    from simulator.calibration import collectives
    from simulator.errors import ScenarioError
    from simulator.validation import files as tables

    runs, wires = ([table for table in read if table.suite.kind == kind] for kind in ("runs", "collectives"))
    known = sorted({row.text("family") for table in runs for row in table.rows})
    generations = sorted({mine.links for table in wires for row in table.rows if (mine := collectives.system(row))})
    if wanted not in ("each", *known, *generations):
        raise ScenarioError(
            f"--leave-out {wanted}: no such family; one of {', '.join([*known, *generations])}, or each"
        )
    asked = [one for one in known if wanted in (one, "each") and (not families or one in families)]
    found = list(_runs_left_out(runs, asked, off)) if asked else []
    if wires and wanted in ("each", *generations):
        base = [*(tables.read(path) for path in tables.shipped() if path.stem == "collectives"), *wires]
        lines = collectives.left_out(wires, base, wanted)
        found += [line for line in lines if not families or line.family in families]
    return tuple(found)


def _runs_left_out(runs: Sequence[Table], asked: Sequence[str], off: frozenset[str]) -> tuple[Line, ...]:
    from simulator.calibration.runs import left_out
    from simulator.engine.prices.constants import Shared, constants
    from simulator.simulation import predict_step
    from simulator.studies.executors import processors
    from simulator.validation import files as tables
    from simulator.validation.measured import measured

    base = [*(tables.read(path) for path in tables.shipped() if path.stem == "runs"), *runs]
    fitted = left_out(list(measured(base, Predict(), most=FITTED)), constants(), predict_step)
    return tuple(
        line
        for family in asked
        for line in tables.lines(
            runs, Predict(off, Shared.of(fitted.get(family, constants()))), (family,), workers=processors()
        )
    )


def _draw(found: Sequence[Line], path: Path) -> None:
    from simulator.plots import validation

    validation.save(found, path)
