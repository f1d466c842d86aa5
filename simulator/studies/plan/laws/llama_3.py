"""The law that Llama 3 was planned with: the best number of tokens, D = 0.29 C^0.53.

Printed to two digits: at C = 3.8e25 they give 10.5T tokens where the paper says 16.55T for 402B parameters (an exponent
of 0.537 would); the text is the better guide there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from simulator.studies.plan.laws.base import FLOPS_PER_PARAMETER, Law, Range
from simulator.units import Flops, Number


@dataclass(frozen=True, kw_only=True)
class Llama3(Law):
    kind: ClassVar[str] = "llama-3"
    title: ClassVar[str] = "Llama 3"
    source: ClassVar[str] = "arXiv 2407.21783, section 3.2.1"
    fitted: ClassVar[dict[str, Range]] = {"flops": Range(6e18, 1e22), "parameters": Range(4e7, 1.6e10)}
    caution: ClassVar[str] = (
        "constants are printed to two digits; at 3.8e25 FLOPs the paper's own numbers are 402B and 16.55T"
    )
    scale: Number = 0.29
    exponent: Number = 0.53

    def optimal_tokens(self, flops: Flops) -> Number:
        return float(self.scale * flops**self.exponent)

    def optimal_parameters(self, flops: Flops) -> Number:
        return flops / (FLOPS_PER_PARAMETER * self.optimal_tokens(flops))
