"""The first scaling laws of language models; N leaves embeddings out, compute is in PF-days of 8.64e19 FLOP.

Best size N = 1.3e9 C^0.73 and loss L = (3.1e8 / C)^0.050 for a budget C spent at batches well below the critical one;
L(N, D) = ((6.4e13 / N)^(0.076/0.103) + 1.8e13 / D)^0.103 for a model trained until it stops improving (equation 1.5).
Later work explains the large exponent 0.73 by a fixed length of the learning-rate schedule and by small models without
their embeddings (arXiv 2203.15556, 2406.19146).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from simulator.studies.plan.batch import critical_batch
from simulator.studies.plan.laws.base import Choice, Law, Range
from simulator.units import Flops, Number

PETAFLOP_DAY: Flops = 8.64e19


@dataclass(frozen=True, kw_only=True)
class Kaplan(Law):
    kind: ClassVar[str] = "kaplan-2020"
    title: ClassVar[str] = "Kaplan 2020"
    source: ClassVar[str] = "arXiv 2001.08361, equations 1.1 to 1.5, Table 6; learning rate, appendix D.6"
    counts: ClassVar[str] = "6 N D, N without embeddings"
    embeddings: ClassVar[bool] = False
    fitted: ClassVar[dict[str, Range]] = {
        "flops": Range(1e-9 * PETAFLOP_DAY, 10 * PETAFLOP_DAY),
        "parameters": Range(768, 1.5e9),
        "tokens": Range(2.2e7, 2.3e10),
    }
    caution: ClassVar[str] = "advises larger models on fewer tokens than any later law"
    scale: Number = 1.3e9
    exponent: Number = 0.73

    def optimal_parameters(self, flops: Flops) -> Number:
        return float(self.scale * (flops / PETAFLOP_DAY) ** self.exponent)

    def optimal_loss(self, flops: Flops) -> Number:
        return loss_of_compute(flops)

    def loss(self, choice: Choice) -> Number:
        by_size = (6.4e13 / choice.parameters) ** (0.076 / 0.103)
        return float((by_size + 1.8e13 / choice.tokens) ** 0.103)

    def batch_tokens(self, choice: Choice) -> Number:
        return critical_batch(loss_of_compute(choice.flops))

    def learning_rate(self, choice: Choice) -> Number | None:
        """Return 0.003239 - 0.0001395 ln N, which is for models below 10 billion parameters."""
        rate = 0.003239 - 0.0001395 * math.log(choice.parameters)
        return rate if rate > 0 else None


def loss_of_parameters(parameters: Number) -> Number:
    """Return the loss of a model with enough data (equation 1.1).

    >>> round(loss_of_parameters(1.5e9), 3)
    2.304
    """
    return float((8.8e13 / parameters) ** 0.076)


def loss_of_tokens(tokens: Number) -> Number:
    """Return the loss of a large enough model, stopped early (equation 1.2).

    >>> round(loss_of_tokens(3e11), 3)
    1.638
    """
    return float((5.4e13 / tokens) ** 0.095)


def loss_of_compute(flops: Flops) -> Number:
    """Return the loss of the best use of a budget (equation 1.3).

    >>> round(loss_of_compute(1000 * PETAFLOP_DAY), 3)
    1.882
    """
    return float((3.1e8 / (flops / PETAFLOP_DAY)) ** 0.050)
