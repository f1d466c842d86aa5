"""One published piece of work, with all of its families."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from simulator.calibration.leave_out.base import LeaveOut, Origin
from simulator.outcome.ledger import Ledger


@dataclass(frozen=True)
class SourceLeftOut(LeaveOut):
    kind: ClassVar[str] = "source"

    @staticmethod
    def of(origin: Origin) -> str:
        return origin.work

    def unknown_to(self, ledger: Ledger) -> Ledger:
        return ledger.without((self.name,))
