"""What every scaling law is: the model and the tokens that a budget of FLOPs is best spent on, and the loss they reach.

A law speaks about its own data, tokenizer and way to count: losses of two laws are never compared.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from simulator.io.readable import digits
from simulator.units import Flops, Number

LOWEST, HIGHEST = 1e6, 1e32
"""FLOPs between which a budget is looked for."""
FLOPS_PER_PARAMETER = 6.0
"""Of a token, forward and backward (Kaplan, arXiv 2001.08361, 2.1)."""


class Choice(NamedTuple):
    """What is trained: parameters as the law counts them, and tokens."""

    parameters: Number
    tokens: Number

    @property
    def flops(self) -> Flops:
        return FLOPS_PER_PARAMETER * self.parameters * self.tokens

    @property
    def ratio(self) -> Number:
        """Tokens a parameter."""
        return self.tokens / self.parameters


class Range(NamedTuple):
    """Smallest and largest value among the runs that a law was fitted to."""

    low: Number
    high: Number

    def holds(self, value: Number) -> bool:
        return self.low <= value <= self.high * (1 + 1e-9)


@dataclass(frozen=True, kw_only=True)
class Law(ABC):
    kind: ClassVar[str]
    title: ClassVar[str]
    source: ClassVar[str]
    counts: ClassVar[str] = "6 N D, N all parameters"
    """What its FLOPs and parameters are."""
    loss_unit: ClassVar[str] = "nats a token"
    """Cross-entropy, by the natural logarithm; empty where nobody says."""
    embeddings: ClassVar[bool] = True
    """Whether N counts them."""
    fitted: ClassVar[dict[str, Range]] = {}
    """Of flops, parameters and tokens, as far as the source says it."""
    caution: ClassVar[str] = ""
    """What to know before its numbers are used."""

    @abstractmethod
    def optimal_parameters(self, flops: Flops) -> Number | None:
        """Return the best number of parameters for a budget; None where the law does not say."""

    def optimum(self, flops: Flops) -> Choice | None:
        """Return what a budget is best spent on."""
        parameters = self.optimal_parameters(flops)
        return None if parameters is None else Choice(parameters, flops / (FLOPS_PER_PARAMETER * parameters))

    def loss(self, choice: Choice) -> Number | None:
        """Return the loss that a choice ends with; None where the law does not say."""
        return None

    def optimal_loss(self, flops: Flops) -> Number | None:
        """Return the loss of the best choice for a budget."""
        best = self.optimum(flops)
        return None if best is None else self.loss(best)

    def limited(self, unique: Number) -> Law:
        """Return the law for data of which only `unique` tokens are different; itself where it does not say."""
        return self

    def batch_tokens(self, choice: Choice) -> Number | None:
        """Return the batch size in tokens that the source advises."""
        return None

    def learning_rate(self, choice: Choice) -> Number | None:
        """Return the largest learning rate that the source advises."""
        return None

    def ranges(self) -> dict[str, Range]:
        """Return the span of each quantity among the runs that the law was fitted to."""
        return self.fitted

    def outside(self, choice: Choice) -> tuple[str, ...]:
        """Return in what a choice lies outside the runs that the law was fitted to, in words."""
        values = {"flops": choice.flops, "parameters": choice.parameters, "tokens": choice.tokens}
        return tuple(
            f"{values[name]:.3g} {'FLOPs' if name == 'flops' else name} is "
            f"{_times(values[name], span)} the fitted runs ({span.low:.3g} to {span.high:.3g})"
            for name, span in self.ranges().items()
            if not span.holds(values[name])
        )


def solve(rising: Callable[[float], float], target: float, low: float = LOWEST, high: float = HIGHEST) -> float | None:
    """Return where a function that rises reaches `target`, by halving on a logarithmic scale; None where nowhere."""
    if not rising(low) <= target <= rising(high):
        return None
    for _ in range(200):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if rising(middle) < target else (low, middle)
    return math.sqrt(low * high)


def _times(value: float, span: Range) -> str:
    beyond = value > span.high
    return f"{digits(value / span.high if beyond else span.low / value)} times {'beyond' if beyond else 'below'}"
