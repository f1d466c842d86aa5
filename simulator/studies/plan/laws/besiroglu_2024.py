"""Chinchilla's data, read off the paper's Figure 4 and fitted again.

Standard errors of E, A, B, alpha and beta: 0.026, 124.5, 1293, 0.015, 0.021; of the best size's exponent 0.513: 0.02.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from simulator.studies.plan.laws.base import Range
from simulator.studies.plan.laws.hoffmann_2022_1 import RUNS
from simulator.studies.plan.laws.parametric import Parametric
from simulator.units import Number


@dataclass(frozen=True, kw_only=True)
class Besiroglu(Parametric):
    kind: ClassVar[str] = "besiroglu-2024"
    title: ClassVar[str] = "Besiroglu 2024, Chinchilla refitted"
    source: ClassVar[str] = "arXiv 2404.10102"
    fitted: ClassVar[dict[str, Range]] = RUNS
    e: Number = 1.8172
    a: Number = 482.01
    b: Number = 2085.43
    alpha: Number = 0.3478
    beta: Number = 0.3658
