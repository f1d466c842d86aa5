"""One stack entry: it becomes the entry that it is based on if others stand behind that, else `generic`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from simulator import catalog
from simulator.calibration.leave_out.base import LeaveOut, Origin
from simulator.outcome.ledger import Ledger
from simulator.validation import stacks


@dataclass(frozen=True)
class StackLeftOut(LeaveOut):
    kind: ClassVar[str] = "stack"

    @staticmethod
    def of(origin: Origin) -> str:
        return origin.facts.stack

    def unknown_to(self, ledger: Ledger) -> Ledger:
        return ledger.without_cells(stack=self.name)

    def stand_ins(self, origin: Origin, base: str, ledger: Ledger) -> tuple[str, ...]:
        below = str(catalog.entry("stack", base).get("base", ""))
        confirmed = below and ledger.behind(stack=below) - {origin.work}
        return (below, stacks.GENERIC) if confirmed else (stacks.GENERIC,)
