"""Adafactor: the second moments of a matrix from its rows and columns (Shazeer and Stern, 2018, arXiv 1804.04235)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from simulator.units import Bytes
from simulator.workload.model import Model
from simulator.workload.optimizers.base import Optimizer


@dataclass(frozen=True, kw_only=True)
class Adafactor(Optimizer):
    """An average a row and one a column instead of a matrix."""

    kind: ClassVar[str] = "adafactor"

    def moments(self, model: Model, width: Bytes, *, end: bool) -> Bytes:
        return width * (1 / model.hidden + 1 / model.ffn)
