"""The rule of thumb of twenty tokens a parameter: C = 120 N^2.

Chinchilla itself (70B on 1.4T); approaches 1 and 2 of Hoffmann 2022 come near it from 1e21 to 1e25 FLOPs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from simulator.studies.plan.laws.base import FLOPS_PER_PARAMETER, Law, Range
from simulator.units import Flops, Number


@dataclass(frozen=True, kw_only=True)
class TwentyTokens(Law):
    kind: ClassVar[str] = "twenty-tokens"
    title: ClassVar[str] = "20 tokens a parameter"
    source: ClassVar[str] = "arXiv 2203.15556, Table 1"
    fitted: ClassVar[dict[str, Range]] = {"flops": Range(1e21, 1e25)}
    ratio: Number = 20.0

    def optimal_parameters(self, flops: Flops) -> Number:
        return float((flops / (FLOPS_PER_PARAMETER * self.ratio)) ** 0.5)
