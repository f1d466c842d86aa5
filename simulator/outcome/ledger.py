"""Which published runs stand behind each stack entry and each accelerator: the ledger that says what is known.

Families that are one piece of work (a paper and its follow-up, a page and its archive) count once. One source behind an
entry is none: the entry was written with that source in view, and nobody else confirmed it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import NamedTuple

from simulator import catalog
from simulator.units import Count

CONFIRMED = 2
"""Independent pieces of work from which on something is measured."""


class Cell(NamedTuple):
    """Software and accelerator of some runs of a family."""

    stack: str
    framework: str
    gpu: str
    architecture: str


@dataclass(frozen=True, kw_only=True)
class Family:
    """Published runs of one source."""

    name: str
    work: str
    """The piece of work that it belongs to; families of one work are not independent."""
    ships: bool
    """Whether its rows come with the program."""
    runs: Count
    cells: tuple[Cell, ...]
    features: frozenset[str]
    sequence: Count
    """The longest."""
    hosts: Count
    """The most."""


@dataclass(frozen=True)
class Ledger:
    families: tuple[Family, ...]
    confirmed: Count = CONFIRMED
    """Independent pieces of work that something needs behind it to count as measured."""

    def without(self, works: Iterable[str]) -> Ledger:
        """Return the ledger as if these pieces of work had never been published.

        What each of them meets is measured if another work stands behind it, so one work less is needed.
        """
        gone = set(works)
        kept = tuple(family for family in self.families if family.work not in gone)
        return Ledger(kept, max(self.confirmed - 1, 1))

    def without_cells(self, **facts: str) -> Ledger:
        """Return the ledger without the runs on a stack, framework, gpu or architecture, all those given together."""
        kept = [replace(family, cells=tuple(c for c in family.cells if not _has(c, facts))) for family in self.families]
        return Ledger(tuple(family for family in kept if family.cells), self.confirmed)

    def behind(self, **facts: str) -> frozenset[str]:
        """Return the pieces of work with runs on a stack, framework, gpu or architecture, all those given together."""
        asked = tuple(facts.items())
        if asked not in self._answers:
            self._answers[asked] = frozenset(
                family.work for family in self.families if any(_has(cell, facts) for cell in family.cells)
            )
        return self._answers[asked]

    @cached_property
    def _answers(self) -> dict[tuple[tuple[str, str], ...], frozenset[str]]:
        """What `behind` found; all layouts of a scenario ask the same."""
        return {}

    def exercised(self, framework: str | None = None) -> frozenset[str]:
        """Return the features that runs had, of one framework or of all."""
        return frozenset(
            feature
            for family in self.families
            if framework is None or any(cell.framework == framework for cell in family.cells)
            for feature in family.features
        )

    def reached(self, size: str) -> Count:
        """Return the longest sequence or most hosts that enough pieces of work reach."""
        largest: dict[str, Count] = {}
        for family in self.families:
            largest[family.work] = max(largest.get(family.work, 0), getattr(family, size))
        return sorted(largest.values(), reverse=True)[self.confirmed - 1] if len(largest) >= self.confirmed else 0


def _has(cell: Cell, facts: Mapping[str, str]) -> bool:
    return all(getattr(cell, key) == value for key, value in facts.items())


@cache
def shipped() -> Ledger:
    """Return the ledger that ships."""
    entry = catalog.entry("calibration", "ledger")
    return Ledger(tuple(_family(name, one) for name, one in entry["families"].items()))


def _family(name: str, one: dict[str, object]) -> Family:
    def listed(key: str) -> list[str]:
        found = one.get(key, [])
        return [str(item) for item in found] if isinstance(found, list) else []

    return Family(
        name=name,
        work=str(one["work"]),
        ships=one["ships"] == "true",
        runs=int(str(one["runs"])),
        cells=tuple(Cell(*cell.split(" / ")) for cell in listed("cells")),
        features=frozenset(listed("features")),
        sequence=int(str(one["sequence"])),
        hosts=int(str(one["hosts"])),
    )


def merged(old: Ledger, new: Ledger) -> Ledger:
    """Return `new` with the families of `old` that do not ship and are not among those read."""
    read = {family.name for family in new.families}
    kept = [family for family in old.families if not family.ships and family.name not in read]
    return Ledger(tuple(sorted((*new.families, *kept), key=lambda family: family.name)))
