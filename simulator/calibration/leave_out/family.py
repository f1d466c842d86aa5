"""One family of rows: its whole piece of work is left out, and only the family is predicted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from simulator.calibration.leave_out.base import LeaveOut, Origin
from simulator.calibration.ledger import work_of
from simulator.outcome.ledger import Ledger


@dataclass(frozen=True)
class FamilyLeftOut(LeaveOut):
    kind: ClassVar[str] = "family"

    @staticmethod
    def of(origin: Origin) -> str:
        return origin.family

    def unknown_to(self, ledger: Ledger) -> Ledger:
        return ledger.without((work_of(self.name),))
