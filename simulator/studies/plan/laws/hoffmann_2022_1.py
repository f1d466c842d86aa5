"""Chinchilla's first approach: the lower envelope of training curves.

The paper prints exponents to two digits (0.50); the constants here are the line through the nine rows of its Table 3
(400M parameters at 1.92e19 FLOPs to 10T at 1.30e28), which they reproduce to 2%.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from simulator.studies.plan.laws.base import Range
from simulator.studies.plan.laws.power import PowerLaw
from simulator.units import Number

RUNS = {"flops": Range(1e18, 1e22), "parameters": Range(4.4e7, 1.62e10), "tokens": Range(2e8, 5e11)}
"""About 400 runs of 44M to 16B parameters; the FLOPs as Besiroglu 2024 reads them from Figure 4."""


@dataclass(frozen=True, kw_only=True)
class Envelope(PowerLaw):
    kind: ClassVar[str] = "hoffmann-2022-1"
    title: ClassVar[str] = "Hoffmann 2022, approach 1"
    source: ClassVar[str] = "arXiv 2203.15556, section 3.1 and Table 3"
    fitted: ClassVar[dict[str, Range]] = RUNS
    scale: Number = 0.09916
    exponent: Number = 0.4981
