"""Lion: the sign of an average decides (Chen et al., 2023, arXiv 2302.06675)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from simulator.units import Bytes
from simulator.workload.model import Model
from simulator.workload.optimizers.base import Optimizer


@dataclass(frozen=True, kw_only=True)
class Lion(Optimizer):
    """One average of each gradient."""

    kind: ClassVar[str] = "lion"

    def moments(self, model: Model, width: Bytes, *, end: bool) -> Bytes:
        return width
