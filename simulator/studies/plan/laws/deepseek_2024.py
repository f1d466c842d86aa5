"""DeepSeek LLM: model size as FLOPs a token, M = 72 L h^2 + 12 L h s, so that C = M D without a factor of 6.

Best M = 0.1715 C^0.5243 and D = 5.8316 C^0.4757; learning rate 0.3118 C^-0.1250, batch 0.2920 C^0.3271 tokens. M is not
2 N: parameters are given here as M / 6, without embeddings, a little too many because M counts attention too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from simulator.studies.plan.laws.base import FLOPS_PER_PARAMETER, Choice, Law, Range
from simulator.units import Flops, Number


@dataclass(frozen=True, kw_only=True)
class DeepSeek(Law):
    kind: ClassVar[str] = "deepseek-2024"
    title: ClassVar[str] = "DeepSeek LLM"
    source: ClassVar[str] = "arXiv 2401.02954, sections 3.1 and 3.2"
    counts: ClassVar[str] = "M D, M = 72 L h^2 + 12 L h s; parameters are M / 6"
    embeddings: ClassVar[bool] = False
    fitted: ClassVar[dict[str, Range]] = {"flops": Range(1e17, 3e20)}
    scale: Number = 0.1715
    exponent: Number = 0.5243

    def flops_per_token(self, flops: Flops) -> Flops:
        return float(self.scale * flops**self.exponent)

    def optimal_parameters(self, flops: Flops) -> Number:
        return self.flops_per_token(flops) / FLOPS_PER_PARAMETER

    def batch_tokens(self, choice: Choice) -> Number:
        return float(0.2920 * choice.flops**0.3271)

    def learning_rate(self, choice: Choice) -> Number:
        return float(0.3118 * choice.flops**-0.1250)
