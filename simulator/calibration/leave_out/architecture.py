"""A whole architecture: all of its accelerators get what an unknown chip with their data sheet gets."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from simulator.calibration.leave_out.base import UNKNOWN, LeaveOut, Origin
from simulator.machine.hardware import Gpu
from simulator.outcome.ledger import Ledger


@dataclass(frozen=True)
class ArchitectureLeftOut(LeaveOut):
    kind: ClassVar[str] = "architecture"

    @staticmethod
    def of(origin: Origin) -> str:
        return origin.facts.architecture

    def unknown_to(self, ledger: Ledger) -> Ledger:
        return ledger.without_cells(architecture=self.name)

    def gpu(self, gpu: Gpu) -> Gpu:
        if gpu.architecture != self.name:
            return gpu
        return replace(gpu, name=UNKNOWN, architecture=UNKNOWN, best_matmul={})
