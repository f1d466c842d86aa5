"""Hestness 2017: only the shape. Loss falls as a power of the data, the best size grows as a smaller power of it.

Word language models (LSTM, 1 Billion Word): loss ~ D^-0.066, parameters ~ D^0.69; for characters -0.094 and 0.78. The
constants before the powers belong to models of that time, so that no size is advised; exponents fitted to a user's own
runs can be held against these.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from simulator.studies.plan.laws.base import Law
from simulator.units import Flops


@dataclass(frozen=True, kw_only=True)
class Hestness(Law):
    kind: ClassVar[str] = "hestness-2017"
    title: ClassVar[str] = "Hestness 2017 (shape only)"
    source: ClassVar[str] = "arXiv 1712.00409, section 4.2"
    counts: ClassVar[str] = "no FLOPs; parameters and tokens of word models"

    def optimal_parameters(self, flops: Flops) -> None:
        return None
