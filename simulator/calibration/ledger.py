"""Writes the ledger of measured runs: what each family ran on, counted from the tables of runs."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from simulator.errors import ForetrainError
from simulator.outcome.familiar import Facts, facts
from simulator.outcome.ledger import Cell, Family, Ledger
from simulator.scenario import from_dict
from simulator.validation import files, predict
from simulator.validation.expression import InexpressibleError
from simulator.validation.files import Table
from simulator.validation.row import Row
from simulator.validation.rows import expression

ONE_WORK = {"NAR2": "NAR", "NAR3": "NAR", "NARJ": "NAR", "dgxc": "DGXC", "mb": "MB", "MS": "MB", "VTS": "VT"}
"""Families that are one piece of work with another: Narayanan et al. 2021 and READMEs of the same runs; NVIDIA's DGX
Cloud benchmarks; Megatron-Bridge's performance page, its archive and its skills; vTrain's two tables."""
HEAD = """\
# Which published runs stand behind each stack entry and each accelerator: step times that count, by family.
# cells: stack entry / framework / GPU / architecture. Families of one work are not independent. What does not ship
# (`ships: false`) was counted from tables whose licence keeps them out of the program.
# Written by `foretrain calibrate --ledger --runs FILE.csv ... --out FOLDER`.
"""


def work_of(family: str) -> str:
    """Return the piece of work that a family belongs to."""
    return ONE_WORK.get(family, family)


def ledger(tables: Sequence[Table], ships: Collection[str] | None = None) -> Ledger:
    """Return what each family ran on; `ships` are the families that come with the program."""
    named = shipped_families() if ships is None else set(ships)
    rows: dict[str, dict[str, Row]] = {}
    for row in timed(tables):
        rows.setdefault(row.text("family"), {}).setdefault(row.text("id"), row)
    found = [_family(name, list(members.values()), name in named) for name, members in sorted(rows.items())]
    return Ledger(tuple(family for family in found if family is not None))


def timed(tables: Sequence[Table]) -> list[Row]:
    """Return the rows of tables of runs whose step time counts."""
    return [
        row
        for table in tables
        if table.suite.kind == "runs"
        for row in table.rows
        if predict.step_time(row) and row.text("score_time") in ("", "1", "1.0")
    ]


def shipped_families() -> set[str]:
    """Return the families with a step time that counts in the tables that come with the program."""
    return {row.text("family") for row in timed([files.read(path) for path in files.shipped() if path.stem == "runs"])}


def _family(name: str, rows: Sequence[Row], ships: bool) -> Family | None:
    found = [one for row in rows if (one := facts_of(row)) is not None]
    if not found:
        return None
    cells = sorted({Cell(one.stack, one.framework, one.gpu, one.architecture) for one in found})
    return Family(
        name=name,
        work=work_of(name),
        ships=ships,
        runs=len(found),
        cells=tuple(cells),
        features=frozenset().union(*(one.features for one in found)),
        sequence=max(one.sequence for one in found),
        hosts=max(one.hosts for one in found),
    )


def facts_of(row: Row) -> Facts | None:
    """Return what a run ran on; None where no scenario says what its row says."""
    try:
        return facts(from_dict(expression(row).scenarios[0]))
    except (InexpressibleError, ForetrainError):
        return None


def text(found: Ledger) -> str:
    """Return `calibration/ledger.yaml`."""
    return HEAD + "families:\n" + "".join(map(_written, found.families)) + _source(found)


def _written(family: Family) -> str:
    lines = [
        f"  {family.name}:",
        f"    work: {family.work}",
        f"    ships: {str(family.ships).lower()}",
        f"    runs: {family.runs}",
        f"    sequence: {family.sequence}",
        f"    hosts: {family.hosts}",
        f"    features: [{', '.join(sorted(family.features))}]",
        "    cells:",
        *(f"      - {' / '.join(cell)}" for cell in family.cells),
    ]
    return "\n".join(lines) + "\n"


def _source(found: Ledger) -> str:
    kept = ", ".join(family.name for family in found.families if not family.ships) or "none"
    return f'source: "step times of simulator/validation/data/runs.csv; families that do not ship: {kept}"\n'
