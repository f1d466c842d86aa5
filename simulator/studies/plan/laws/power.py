"""A power law of the best size over the budget, N = k C^a, for sources that give no loss."""

from __future__ import annotations

from dataclasses import dataclass

from simulator.studies.plan.laws.base import Law
from simulator.units import Flops, Number


@dataclass(frozen=True, kw_only=True)
class PowerLaw(Law):
    scale: Number
    exponent: Number

    def optimal_parameters(self, flops: Flops) -> Number:
        return float(self.scale * flops**self.exponent)
