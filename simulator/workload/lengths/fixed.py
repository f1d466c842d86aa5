"""Samples of one length."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from simulator.units import Count
from simulator.workload.lengths.base import Lengths


@dataclass(frozen=True, kw_only=True)
class Fixed(Lengths):
    kind: ClassVar[str] = "fixed"

    tokens: Count
    """Tokens of each sample."""

    def at(self, shares: np.ndarray) -> np.ndarray:
        return np.full(shares.shape, float(self.tokens))
