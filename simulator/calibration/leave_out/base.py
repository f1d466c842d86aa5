"""A thing that predictions are made without: which runs it concerns, and what is known once it is gone."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from simulator.errors import ForetrainError
from simulator.machine.hardware import Gpu
from simulator.outcome.familiar import Facts
from simulator.outcome.ledger import Ledger
from simulator.scenario import from_dict
from simulator.units import Count
from simulator.validation import stacks
from simulator.validation.row import Row

FAR: Count = 2
"""Years from which on another entry of a framework stands in no better than `generic`: of published runs, entries so
far away missed by 0.4 to 0.8 in ln where `generic` missed by 0.2."""
UNKNOWN = "unknown"
"""Name and architecture of an accelerator that nobody measured."""


class Origin(NamedTuple):
    """A published run, and what it ran on."""

    row: Row
    family: str
    work: str
    facts: Facts


@dataclass(frozen=True)
class LeaveOut(ABC):
    """One thing that is left out."""

    kind: ClassVar[str]
    name: str

    @property
    def label(self) -> str:
        return f"{self.kind} {self.name}"

    @staticmethod
    @abstractmethod
    def of(origin: Origin) -> str:
        """Return the name of the thing of this kind that a run has."""

    def meets(self, origin: Origin) -> bool:
        """Return whether a run has what is left out."""
        return self.of(origin) == self.name

    @abstractmethod
    def unknown_to(self, ledger: Ledger) -> Ledger:
        """Return what a ledger knows without it."""

    def stand_ins(self, origin: Origin, base: str, ledger: Ledger) -> tuple[str, ...]:
        """Return the entries that may stand in for the stack entry `base`, which nothing stands behind in `ledger`."""
        asked = stacks.stack(origin.row)
        return stand_ins(asked.framework, asked.year, ledger)

    def gpu(self, gpu: Gpu) -> Gpu:
        """Return the accelerator with the kernel constants that it has without what is left out."""
        return gpu


def stand_ins(framework: str, year: int, ledger: Ledger) -> tuple[str, ...]:
    """Return the entries of a framework that runs stand behind, the nearest in years first, and `generic` at last.

    Of two as near the newer comes first: an entry from before a release lacks its overlap, which costs most.
    """
    near = [
        claim
        for claim in stacks.claims()
        if claim.framework == framework and claim.distance(year) < FAR and ledger.behind(stack=claim.name)
    ]
    near.sort(key=lambda claim: (claim.distance(year), -claim.first, claim.name))
    return (*(claim.name for claim in near), stacks.GENERIC)


def on_software(plain: dict[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Return the scenario on the first of these stack entries that can run its layout, else on the last.

    Switches that the row itself states stay.
    """
    tried = [plain | {"stack": {**plain["stack"], "base": name}} for name in names]
    return next((one for one in tried if _reads(one)), tried[-1])


def _reads(plain: dict[str, Any]) -> bool:
    try:
        from_dict(plain)
    except ForetrainError:
        return False
    return True
