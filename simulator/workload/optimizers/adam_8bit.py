"""Adam whose averages are quantised block by block (Dettmers et al., 2021, arXiv 2110.02861)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from simulator.units import Bytes
from simulator.workload.model import Model
from simulator.workload.optimizers.base import Optimizer

BLOCK = 256
"""Values that share one fp32 scale in 8-bit optimizers (torchao, bitsandbytes 0.45; Dettmers et al., 2021: 2,048)."""


@dataclass(frozen=True, kw_only=True)
class Adam8bit(Optimizer):
    """Two averages of one byte each, and a scale a block."""

    kind: ClassVar[str] = "adam-8bit"

    def moments(self, model: Model, width: Bytes, *, end: bool) -> Bytes:
        return 2 * (1 + 4 / BLOCK)
