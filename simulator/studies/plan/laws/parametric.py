"""The parametric form L(N, D) = E + A / N^alpha + B / D^beta, and its compute optimum in closed form.

With C = 6 N D the optimum is N = G (C/6)^(beta/(alpha+beta)), G = (alpha A / (beta B))^(1/(alpha+beta))
(Hoffmann, arXiv 2203.15556, equation 4). A file of this form only brings constants.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from simulator.studies.plan.laws.base import FLOPS_PER_PARAMETER, Choice, Law
from simulator.units import Flops, Number


@dataclass(frozen=True, kw_only=True)
class Parametric(Law):
    e: Number
    """Loss that no model gets below: the entropy of the text."""
    a: Number
    b: Number
    alpha: Number
    beta: Number

    @property
    def exponent(self) -> Number:
        """Return the exponent of the best N over C, beta / (alpha + beta)."""
        return self.beta / (self.alpha + self.beta)

    def optimal_parameters(self, flops: Flops) -> Number:
        scale = (self.alpha * self.a / (self.beta * self.b)) ** (1 / (self.alpha + self.beta))
        return float(scale * (flops / FLOPS_PER_PARAMETER) ** self.exponent)

    def loss(self, choice: Choice) -> Number:
        return float(self.e + self.a / choice.parameters**self.alpha + self.b / choice.tokens**self.beta)

    def tokens_for(self, parameters: Number, loss: Number) -> Number | None:
        """Return the tokens with which a model reaches `loss`; None where it never does."""
        left = loss - self.e - self.a / parameters**self.alpha
        return (self.b / left) ** (1 / self.beta) if left > 0 else None

    def smallest(self, loss: Number) -> Number:
        """Return the size below which no number of tokens gives `loss`."""
        return math.inf if loss <= self.e else (self.a / (loss - self.e)) ** (1 / self.alpha)
