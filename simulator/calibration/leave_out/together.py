"""Several things left out together, and which there are to leave out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

from simulator.calibration.behind import works
from simulator.calibration.leave_out.base import LeaveOut, Origin, on_software
from simulator.calibration.ledger import facts_of, timed, work_of
from simulator.engine.prices.constants import Constant
from simulator.errors import ScenarioError
from simulator.kinds import members
from simulator.outcome.ledger import Ledger
from simulator.scenario import Scenario
from simulator.validation import stacks
from simulator.validation.files import Table
from simulator.validation.row import Row

EACH = "each"


@dataclass(frozen=True)
class Together:
    """Things that are left out at the same time."""

    things: tuple[LeaveOut, ...]

    @property
    def label(self) -> str:
        return ", ".join(thing.label for thing in self.things)

    def meets(self, origin: Origin) -> bool:
        """Return whether a run has any of them."""
        return any(thing.meets(origin) for thing in self.things)

    def unknown_to(self, ledger: Ledger) -> Ledger:
        return reduce(lambda known, thing: thing.unknown_to(known), self.things, ledger)

    def plain(self, origin: Origin, plain: dict[str, Any], ledger: Ledger) -> dict[str, Any]:
        """Return the scenario of a run on software that `ledger`, the one without these things, knows.

        An entry stays where runs still stand behind it.
        """
        base = plain["stack"]["base"]
        if base == stacks.GENERIC or ledger.behind(stack=base):
            return plain
        first = next((thing for thing in self.things if thing.meets(origin)), self.things[0])
        return on_software(plain, first.stand_ins(origin, base, ledger))

    def scenario(self, scenario: Scenario) -> Scenario:
        """Return the scenario with kernels that nobody measured on what is left out."""
        host = scenario.cluster.host
        gpu = reduce(lambda known, thing: thing.gpu(known), self.things, host.gpu)
        return replace(scenario, cluster=replace(scenario.cluster, host=replace(host, gpu=gpu)))

    def constants(self, constants: Iterable[Constant], before: Ledger, after: Ledger) -> tuple[Constant, ...]:
        """Return the shared constants, those at their priors that no run teaches any more.

        What does not ship has no rows to fit again: its constants go with the last piece of work behind them too.
        """
        gone = {one.name for one in constants if works(one, before) and not works(one, after)}
        return tuple(one.with_value(one.prior) if one.name in gone else one for one in constants)


def origins(tables: Sequence[Table]) -> tuple[list[Origin], list[Row]]:
    """Return the runs of tables whose step time counts, with what they ran on, and rows that no scenario says."""
    rows: dict[str, Row] = {}
    for row in timed(tables):
        rows.setdefault(row.text("id"), row)
    found, silent = [], []
    for row in rows.values():
        if (facts := facts_of(row)) is None:
            silent.append(row)
        else:
            found.append(Origin(row, row.text("family"), work_of(row.text("family")), facts))
    return found, silent


def asked(words: Sequence[str], runs: Sequence[Origin], ledger: Ledger) -> list[Together]:
    """Return what is left out, one after the other: each value of a kind, or all that is named at the same time.

    Raises ScenarioError where a word names nothing that a run of the tables or the ledger has.
    """
    each = [word for word in words if word.partition(":")[0] == EACH]
    if each and len(words) > 1:
        raise ScenarioError(f"--leave-out {each[0]}: leaves out one thing after the other; give it alone")
    if each:
        kind = _kind(each[0].partition(":")[2] or "source", each[0])
        return [Together((kind(name),)) for name in sorted({kind.of(run) for run in runs} - {""})]
    return [Together(tuple(_named(word, runs, ledger) for word in words))]


def _named(word: str, runs: Sequence[Origin], ledger: Ledger) -> LeaveOut:
    text, colon, name = word.partition(":")
    kind, name = _kind(text if colon else "family", word), name if colon else text
    known = {kind.of(run) for run in runs} | _in_ledger(kind.kind, ledger)
    if name not in known:
        raise ScenarioError(f"--leave-out {word}: no such {kind.kind}; one of {', '.join(sorted(known - {''}))}")
    return kind(name)


def _kind(text: str, word: str) -> type[LeaveOut]:
    known = members(LeaveOut)
    if text not in known:
        raise ScenarioError(f"--leave-out {word}: found {text!r}, expected one of {', '.join(known)}")
    return known[text]


def _in_ledger(kind: str, ledger: Ledger) -> set[str]:
    """Return what the ledger has of a kind, rows or none."""
    if kind == "family":
        return {family.name for family in ledger.families}
    if kind == "source":
        return {family.work for family in ledger.families}
    return {str(getattr(cell, kind)) for family in ledger.families for cell in family.cells}
