"""Chinchilla's second approach: the minimum of IsoFLOP parabolas.

The paper prints exponents to two digits (0.49); the constants here are the line through the nine rows of its Table A3
(400M parameters at 1.84e19 FLOPs to 10T at 1.75e28), which they reproduce to 3%.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from simulator.studies.plan.laws.base import Range
from simulator.studies.plan.laws.power import PowerLaw
from simulator.units import Number


@dataclass(frozen=True, kw_only=True)
class IsoFlop(PowerLaw):
    kind: ClassVar[str] = "hoffmann-2022-2"
    title: ClassVar[str] = "Hoffmann 2022, approach 2"
    source: ClassVar[str] = "arXiv 2203.15556, section 3.2 and Table A3"
    fitted: ClassVar[dict[str, Range]] = {"flops": Range(6e18, 3e21)}
    scale: Number = 0.1449
    exponent: Number = 0.4899
