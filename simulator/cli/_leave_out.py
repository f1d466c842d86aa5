"""Predictions of measured runs without what was read from them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from simulator.cli._progress import progress
from simulator.cli._streams import show, working

if TYPE_CHECKING:
    from simulator.calibration.left_out_scores import Figures
    from simulator.io.printable import Json
    from simulator.outcome.ledger import Ledger
    from simulator.validation.files import Table
    from simulator.validation.lines import Line
    from simulator.validation.row import Row

HEAD = ("what is new", "out", "runs", "median", "P90", "held", "width", "score", "constant")
WIDTHS = (5, 7, 8, 8, 7, 7, 7, 10)
"""Of all columns but the first."""


@dataclass(frozen=True)
class Chosen:
    """Which runs are predicted, and how."""

    families: frozenset[str] = frozenset()
    most: int | None = None
    """Runs of each family for each thing left out."""
    off: frozenset[str] = frozenset()
    """Terms of the physics that are switched off."""
    jobs: int | None = None

    def takes(self, family: str) -> bool:
        """Return whether runs of a family are in view."""
        return not self.families or family in self.families


@dataclass(frozen=True)
class Found:
    lines: tuple[Line, ...]
    silent: tuple[Row, ...]
    """Runs of the families in view that no scenario says."""


def answer(
    read: Sequence[Table], words: Sequence[str], chosen: Chosen, *, as_csv: bool, as_json: bool, plot: Path | None
) -> None:
    """Show what is predicted without what `words` name: runs, or collectives without a generation of links."""
    from simulator.validation import goals, lines, summary
    from simulator.validation.tables import write

    runs, links = ([table for table in read if table.suite.kind == kind] for kind in ("runs", "collectives"))
    of_links = links and (set(words) & generations(links) or not runs)
    found = links_left_out(links, words, chosen) if of_links else left_out(runs, words, chosen)
    if plot is not None:
        from simulator.plots import validation

        validation.save(found.lines, plot)
    if as_csv:
        show(lines.csv_text(found.lines, lines.LEFT_OUT_COLUMNS))
    elif of_links:
        figures = summary.summary(found.lines, goals.LEFT_OUT)
        show(summary.json_text(figures, found.lines) if as_json else write(figures))
    else:
        show(json_text(found) if as_json else text(found))


def generations(links: Sequence[Table]) -> set[str]:
    """Return the generations of links that tables of collectives measure."""
    from simulator.calibration import collectives

    return {mine.links for table in links for row in table.rows if (mine := collectives.system(row))}


def links_left_out(links: Sequence[Table], words: Sequence[str], chosen: Chosen) -> Found:
    """Return the collectives of one generation, or of each system, predicted without their own measurements."""
    from simulator.calibration import collectives
    from simulator.errors import ScenarioError
    from simulator.validation import files

    known = sorted(generations(links))
    if len(words) > 1 or words[0] not in ("each", *known):
        word = next((word for word in words if word not in known), words[-1])
        raise ScenarioError(
            f"--leave-out {word}: no such generation of links alone; one of {', '.join(known)}, or each"
        )
    base = [*(files.read(path) for path in files.shipped() if path.stem == "collectives"), *links]
    with working("Predicting collectives"):
        lines = collectives.left_out(links, base, words[0])
    return Found(tuple(line for line in lines if chosen.takes(line.family)), ())


def left_out(read: Sequence[Table], words: Sequence[str], chosen: Chosen) -> Found:
    """Return the runs that have what `words` name, each predicted without it."""
    from functools import partial

    from simulator.calibration import left_out_runs
    from simulator.calibration.leave_out import together
    from simulator.errors import ScenarioError
    from simulator.outcome.ledger import shipped
    from simulator.studies.executors import spread
    from simulator.validation import files

    if not read:
        raise ScenarioError(f"--leave-out {words[0]}: no table of runs or collectives is given")
    base = [files.read(path) for path in files.shipped() if path.stem == "runs"]
    with working("Reading what was measured"):
        known, silent = together.origins([*read, *base])
        own = {id(row) for table in read for row in table.rows}
        wanted = [run for run in known if id(run.row) in own and chosen.takes(run.family)]
        ledger = with_new(shipped(), read)
        asked = together.asked(words, wanted, ledger)
    with working("Fitting the constants that runs share"):
        fitted = {row.text("id") for table in base for row in table.rows}
        teaching = [run for run in known if run.row.text("id") in fitted]
        taught = left_out_runs.taught(teaching, partial(spread, jobs=chosen.jobs))
    todo = left_out_runs.tasks(asked, wanted, taught, ledger, chosen.most)
    found: list[Line] = []
    with progress("Leaving out", len(todo)) as done:
        for lines in spread(left_out_runs.Predicted(chosen.off), todo, chosen.jobs):
            found += lines
            done(True)
    rows = [row for row in silent if id(row) in own and chosen.takes(row.text("family"))]
    return Found(tuple(found), tuple(rows))


def with_new(known: Ledger, read: Sequence[Table]) -> Ledger:
    """Return the ledger with families of the tables that it does not have yet."""
    from dataclasses import replace

    from simulator.calibration.ledger import ledger

    names = {family.name for family in known.families}
    new = [replace(table, rows=tuple(row for row in table.rows if row.text("family") not in names)) for table in read]
    return replace(known, families=(*known.families, *ledger(new, ()).families))


def text(found: Found) -> str:
    """Return the figures as a table of 80 columns."""
    from simulator.calibration.left_out_scores import figures, without_prediction

    rows = [_cells(one) for one in figures(found.lines)]
    lines = [_line(HEAD), *map(_line, rows)] if rows else []
    missing = without_prediction(found.lines)
    return "\n".join([*lines, *_notes(len(found.lines), missing, len(found.silent))])


def _notes(runs: int, missing: int, silent: int) -> Iterator[str]:
    yield "out: things left out, each with the same weight in held, width and score"
    yield "held: share inside 80% ranges; width: ln(high / low); score: width + 10 x miss"
    yield "constant: score of one range for all, as wide as the other things need, if any"
    if missing:
        yield f"{missing:,} of {runs:,} runs have no prediction; --csv has the reasons"
    if silent:
        yield f"{silent:,} rows of the tables say too little to be predicted"


def _cells(one: Figures) -> tuple[str, ...]:
    shares = (f"{one.median:.1%}", f"{one.p90:.1%}", f"{one.held:.0%}")
    figures = (f"{one.width:.2f}", f"{one.score:.2f}", "-" if one.constant is None else f"{one.constant:.2f}")
    return (one.name, f"{one.things}", f"{one.runs:,}", *shares, *figures)


def _line(cells: Sequence[str]) -> str:
    first, *rest = cells
    return f"{first:<16}" + "".join(
        f"{cell:>{width}}" for cell, width in zip(rest, (5, 7, 8, 8, 7, 7, 7, 10), strict=True)
    )


def json_text(found: Found) -> Json:
    """Return figures and lines as JSON."""
    from simulator.calibration.left_out_scores import figures, without_prediction
    from simulator.io.printable import json_text as to_json
    from simulator.validation.lines import LEFT_OUT_COLUMNS

    return to_json(
        {
            "left_out": [one._asdict() for one in figures(found.lines)],
            "without_prediction": without_prediction(found.lines),
            "inexpressible": len(found.silent),
            "lines": [line.as_dict(LEFT_OUT_COLUMNS) for line in found.lines],
        }
    )
