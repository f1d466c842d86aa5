"""Compare predictions with published measurements, or with your own table."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from simulator.cli._options import Json
from simulator.cli._streams import show, working

if TYPE_CHECKING:
    from simulator.engine.prices.constants import Shared
    from simulator.scenario import Scenario
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
    list[str] | None,
    typer.Option(
        "--leave-out",
        metavar="KIND:NAME",
        help="Predict the runs of a family (NAME alone), source, stack, gpu or architecture without any number read "
        "from it; may be repeated. each:source, each:stack, ... take all of a kind in turn. nvlink4, ...: "
        "collectives without that generation of links. each: every source, or every system of links.",
    ),
]
Most = Annotated[
    int | None,
    typer.Option(
        "--most", metavar="N", min=1, max=100_000, help="Runs of each family per thing left out; all by default."
    ),
]
Jobs = Annotated[
    int | None, typer.Option("--jobs", metavar="N", min=1, max=1024, help="Processes; all processors by default.")
]


def command(
    files: Files = None,
    as_csv: Csv = False,
    as_json: Json = False,
    plot: Plot = None,
    families: Families = None,
    without: Without = None,
    leave_out: LeaveOut = None,
    most: Most = None,
    jobs: Jobs = None,
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
      foretrain validate --leave-out KOR
      foretrain validate --leave-out gpu:h100-sxm-80gb --most 4
      foretrain validate --leave-out each:source --most 4 --csv > left_out.csv
      foretrain validate collectives.csv --leave-out nvlink4
    """
    from simulator.studies.executors import processors
    from simulator.validation import files as tables
    from simulator.validation import lines, summary, terms

    off = terms.known(without or ())
    read = [tables.read(path) for path in files or tables.shipped()]
    if leave_out:
        from simulator.cli import _leave_out

        chosen = _leave_out.Chosen(frozenset(families or ()), most, off, jobs)
        _leave_out.answer(read, leave_out, chosen, as_csv=as_csv, as_json=as_json, plot=plot)
        return
    with working(f"Predicting {sum(len(table.rows) for table in read):,} rows"):
        found = tables.lines(read, Predict(off), families or (), workers=jobs or processors())
    if plot is not None:
        from simulator.plots import validation

        validation.save(found, plot)
    if as_csv:
        show(lines.csv_text(found))
    elif as_json:
        show(summary.json_text(summary.summary(found), found))
    else:
        from simulator.validation.tables import write

        show(write(summary.summary(found)))


@dataclass(frozen=True)
class Predict:
    """The predictor with some terms off; kernels need none, so it is imported with the first scenario."""

    without: frozenset[str] = frozenset()
    learned: Shared | None = None

    def __call__(self, scenario: Scenario) -> Prediction:
        from simulator import simulation

        return simulation.predict(scenario, learned=self.learned, without=self.without)
