"""Data that are repeated: what an epoch beyond the first is still worth.

U unique tokens seen 1 + R times count as D' = U + U R* (1 - exp(-R / R*)) with R* = 15.39; parameters beyond what U can
use count likewise with 5.31. Up to four epochs are nearly as good as new data; more than about 40 gain nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import ClassVar

from simulator.studies.plan.laws.base import FLOPS_PER_PARAMETER, Choice, Range, solve
from simulator.studies.plan.laws.parametric import Parametric
from simulator.units import Flops, Number

GOOD_EPOCHS = 4.0
TOKENS_WORTH, PARAMETERS_WORTH = 15.387756, 5.309743


@dataclass(frozen=True, kw_only=True)
class Muennighoff(Parametric):
    kind: ClassVar[str] = "muennighoff-2023"
    title: ClassVar[str] = "Muennighoff 2023"
    source: ClassVar[str] = "arXiv 2305.16264, sections 3 and 6, appendix A"
    fitted: ClassVar[dict[str, Range]] = {"parameters": Range(7e6, 9e9), "tokens": Range(1e8, 9e11)}
    e: Number = 1.869
    a: Number = 521.0
    b: Number = 1488.0
    alpha: Number = 0.3527
    beta: Number = 0.3527

    unique: Number | None = None
    """Tokens that are different; the rest repeats them."""

    def limited(self, unique: Number) -> Muennighoff:
        return replace(self, unique=unique)

    def loss(self, choice: Choice) -> Number:
        if self.unique is None:
            return super().loss(choice)
        parameters = worth(choice.parameters, self.usable_parameters, PARAMETERS_WORTH)
        return super().loss(Choice(parameters, worth(choice.tokens, self.unique, TOKENS_WORTH)))

    @property
    def usable_parameters(self) -> Number:
        """Return the size for which the unique tokens are the best number."""
        assert self.unique is not None
        return _usable(replace(self, unique=None), self.unique)

    def optimal_parameters(self, flops: Flops) -> Number:
        """Return the best size; with too few unique tokens it is larger than one that sees new tokens only."""
        from scipy.optimize import minimize_scalar

        free = self._unlimited(flops)
        if self.unique is None or flops / (FLOPS_PER_PARAMETER * free) <= self.unique:
            return free

        def lost(log: float) -> float:
            parameters = math.exp(log)
            return self.loss(Choice(parameters, flops / (FLOPS_PER_PARAMETER * parameters)))

        middle = math.log(free)
        return math.exp(minimize_scalar(lost, bounds=(middle - 4, middle + 4), method="bounded").x)

    def _unlimited(self, flops: Flops) -> Number:
        return super().optimal_parameters(flops)


@lru_cache(maxsize=64)
def _usable(law: Muennighoff, unique: Number) -> Number:
    budget = solve(lambda flops: flops / (FLOPS_PER_PARAMETER * law.optimal_parameters(flops)), unique)
    return math.inf if budget is None else law.optimal_parameters(budget)


def worth(seen: Number, unique: Number, decay: Number) -> Number:
    """Return what `seen` is worth when only `unique` of it is different.

    >>> worth(3.0, 4.0, 15.0), round(worth(4.0, 1.0, 15.39), 2), round(worth(1000.0, 1.0, 15.39), 1)
    (3.0, 3.73, 16.4)
    """
    if seen <= unique:
        return seen
    return unique + unique * decay * (1 - math.exp(-(seen / unique - 1) / decay))
