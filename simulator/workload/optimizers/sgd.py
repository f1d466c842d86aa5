"""Stochastic gradient descent with momentum."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from simulator.units import Bytes
from simulator.workload.model import Model
from simulator.workload.optimizers.base import Optimizer


@dataclass(frozen=True, kw_only=True)
class Sgd(Optimizer):
    """One average of each gradient, its momentum."""

    kind: ClassVar[str] = "sgd"

    def moments(self, model: Model, width: Bytes, *, end: bool) -> Bytes:
        return width
