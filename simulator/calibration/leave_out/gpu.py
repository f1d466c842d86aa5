"""One accelerator: its kernels become those of its nearest measured sibling, or those of an unknown chip."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from simulator.calibration.behind import kernels, sibling
from simulator.calibration.leave_out.base import UNKNOWN, LeaveOut, Origin
from simulator.machine.hardware import Gpu
from simulator.outcome.ledger import Ledger


@dataclass(frozen=True)
class GpuLeftOut(LeaveOut):
    kind: ClassVar[str] = "gpu"

    @staticmethod
    def of(origin: Origin) -> str:
        return origin.facts.gpu

    def unknown_to(self, ledger: Ledger) -> Ledger:
        return ledger.without_cells(gpu=self.name)

    def gpu(self, gpu: Gpu) -> Gpu:
        if gpu.name != self.name:
            return gpu
        if gpu.name not in kernels().get(gpu.architecture, ()):
            return replace(gpu, best_matmul={})
        other = sibling(gpu.name)
        architecture = gpu.architecture if other else UNKNOWN
        return replace(gpu, name=other or UNKNOWN, architecture=architecture, best_matmul={})
