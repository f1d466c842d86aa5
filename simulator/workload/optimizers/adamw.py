"""AdamW: Adam with decoupled weight decay (Loshchilov and Hutter, 2017, arXiv 1711.05101)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from simulator.units import Bytes
from simulator.workload.model import Model
from simulator.workload.optimizers.base import Optimizer


@dataclass(frozen=True, kw_only=True)
class AdamW(Optimizer):
    """Two averages of each gradient: itself and its square."""

    kind: ClassVar[str] = "adamw"

    def moments(self, model: Model, width: Bytes, *, end: bool) -> Bytes:
        return 2 * width
