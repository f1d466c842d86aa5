"""A thing that predictions are made without: which runs it concerns, and what is known once it is gone."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from simulator.machine.hardware import Gpu
from simulator.outcome.familiar import Facts
from simulator.outcome.ledger import Ledger
from simulator.validation import stacks
from simulator.validation.row import Row

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

    def stack(self, origin: Origin, base: str, ledger: Ledger) -> str:
        """Return the entry that stands in for the stack entry `base`, behind which nothing stands in `ledger` any more.

        The nearest of the framework that runs still stand behind, else `generic`.
        """
        asked = stacks.stack(origin.row)
        return stacks.nearest(asked.framework, asked.year, lambda name: bool(ledger.behind(stack=name)))[0]

    def gpu(self, gpu: Gpu) -> Gpu:
        """Return the accelerator with the kernel constants that it has without what is left out."""
        return gpu


def on_software(origin: Origin, left: LeaveOut, plain: dict[str, Any], ledger: Ledger) -> dict[str, Any]:
    """Return the scenario of a run on software that `ledger` knows.

    Switches that the row itself states stay; an entry stays where runs still stand behind it.
    """
    said = plain["stack"]
    if said["base"] == stacks.GENERIC or ledger.behind(stack=said["base"]):
        return plain
    return plain | {"stack": {**said, "base": left.stack(origin, said["base"], ledger)}}
