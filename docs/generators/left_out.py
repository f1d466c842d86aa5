"""The section on runs that are predicted without what was read from them."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

from generators.markdown import table
from simulator.calibration import behind, left_out_scores
from simulator.calibration.left_out_scores import Figures
from simulator.outcome.ledger import shipped
from simulator.outcome.levels import scale
from simulator.validation.lines import Line

HEADING = "Left out of all that was read from it"
KINDS = ("source", "stack", "gpu")
TEXT = """## {heading}

How far off is a run on software or an accelerator that nobody here measured? To find out, one source, stack entry or
GPU at a time is taken away, with every number that was read from it, and its runs are predicted: at most four of each
family, on 1 December 2026.

    foretrain validate --leave-out each:source --most 4 --csv > left_out_source.csv

An entry of software stays if another piece of work stands behind it. Otherwise the nearest entry of the framework
stands in, less than two years away and able to run the layout, or else `generic`. A stack that is left out becomes
the entry it is based on, or `generic`. A GPU gets the kernels of its nearest measured sibling, or those of an unknown
chip. The shared constants are fitted again without the runs, and go to their priors if no work is left. Not taken
back are the levels of the error model, the formulas and switches of the program, and what collectives attain of
links.

*held*, *width* (ln(high / low)) and *score* (width + 10 x miss, in ln) are of the 80% ranges. Each thing left out has
the same weight. *constant* is the score of one range for all runs, as wide as the other things need. Targets: ranges
hold 75 to 85% for each kind of leaving out, and score better than the constant range. Runs without a prediction:
{lost}.

{wide}
"""
BEHIND = """What was read from what: pieces of work behind the constants that runs taught, accelerators behind kernel
tables. If no row of the works behind a number ships, the number is kept by hand.
"""
WIDE = """Ranges are wider than these sources need: their factor is {scale:g}, and with 1.0 they would hold {held}.
The factor is that of seven sources whose rows do not ship: left out alike, 64% of their runs are held with
1.0 and 79% with 1.2 ([uncertainty](concepts/uncertainty.md)). A GPU that is left out takes the level of
unmeasured software along for stacks that one source stands behind, though that source's other runs stay, so
that its ranges hold most."""
HEAD = ("left out", "what is new", "out", "runs", "median", "P90", "held", "width", "score", "constant")


def section() -> str:
    """Return the section, from the files that the command wrote and from the catalog."""
    lines = {kind: lines_without(kind) for kind in KINDS}
    lost = ", ".join(f"{left_out_scores.without_prediction(lines[kind])} by {kind}" for kind in KINDS)
    rows = [(kind, *_cells(one)) for kind in KINDS for one in left_out_scores.figures(lines[kind])]
    return "\n".join(
        [
            TEXT.format(heading=HEADING, lost=lost, wide=_wide(lines)),
            table(HEAD, rows, range(2, len(HEAD))),
            BEHIND,
            table(("constant", "kind", "read from", "rows that do not ship"), _behind()),
        ]
    )


def _wide(lines: dict[str, list[Line]]) -> str:
    """Return what a factor of 1 on all levels would hold, in a sentence."""
    held = [(kind, [left_out_scores.rescaled(line, 1 / scale()) for line in lines[kind]]) for kind in KINDS]
    shares = [f"{list(left_out_scores.figures(found))[-1].held:.0%} by {kind}" for kind, found in held]
    return WIDE.format(scale=scale(), held=", ".join(shares))


def lines_without(kind: str) -> list[Line]:
    """Return the lines that `foretrain validate --leave-out each:KIND --csv` wrote."""
    with (Path(__file__).parent / f"left_out_{kind}.csv").open(encoding="utf-8", newline="") as file:
        return [_line(row) for row in csv.DictReader(file)]


def _line(row: dict[str, str]) -> Line:
    return Line(
        suite=row["suite"],
        id=row["id"],
        family=row["family"],
        quantity=row["quantity"],
        unit=row["unit"],
        measured=_number(row["measured"]),
        predicted=_number(row["predicted"]),
        low=_number(row["low"]),
        high=_number(row["high"]),
        without=row["without"],
        comparable=row["comparable"],
    )


def _number(text: str) -> float | None:
    return float(text) if text else None


def _cells(one: Figures) -> tuple[str, ...]:
    shares = (f"{one.median:.1%}", f"{one.p90:.1%}", f"{one.held:.0%}")
    figures = (f"{one.width:.2f}", f"{one.score:.2f}", "" if one.constant is None else f"{one.constant:.2f}")
    return (one.name, f"{one.things}", f"{one.runs:,}", *shares, *figures)


def _behind() -> Iterator[tuple[str, ...]]:
    """Yield what each constant was read from, those with a measurement behind them."""
    for entry in sorted(behind.entries(shipped()), key=lambda one: (one.kind, one.name)):
        if entry.behind:
            yield entry.name, entry.kind, ", ".join(sorted(entry.behind)), ", ".join(sorted(entry.kept))
