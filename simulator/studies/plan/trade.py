"""What it costs to leave the optimum: over-training a small model, and training it for the tokens it will serve."""

from __future__ import annotations

import math
from typing import NamedTuple

from simulator.studies.plan.laws.base import Choice, Law, solve
from simulator.studies.plan.laws.parametric import Parametric
from simulator.units import Flops, Number

SERVING = 2.0
"""FLOPs of a served token and parameter: the forward pass."""


class Detour(NamedTuple):
    """A choice held against the cheapest one with the same loss."""

    overtrained: Number
    """Tokens over those that are best for the size."""
    flops: Number | None
    """FLOPs over those of the cheapest choice with the same loss; None where the law has no loss."""


class Serving(NamedTuple):
    """The choice that costs least in training and serving together."""

    choice: Choice
    served: Number
    training: Flops
    serving: Flops
    saved: Number
    """Share of all FLOPs that it saves over the choice that is cheapest to train."""


def detour(law: Law, choice: Choice) -> Detour | None:
    """Return how far `choice` is from the optimum of `law`; None where the law has none."""
    best = solve(lambda flops: law.optimal_parameters(flops) or 0.0, choice.parameters)
    optimum = None if best is None else law.optimum(best)
    if optimum is None:
        return None
    loss = law.loss(choice)
    cheapest = None if loss is None else solve(lambda flops: -(law.loss(law.optimum(flops) or choice) or 0.0), -loss)
    return Detour(choice.tokens / optimum.tokens, None if cheapest is None else choice.flops / cheapest)


def for_serving(law: Parametric, loss: Number, served: Number) -> Serving:
    """Return the cheapest way to reach `loss` and serve so many tokens: the minimum of 6 N D + 2 N S.

    The smaller model costs more to train and less to serve (Sardana, arXiv 2401.00448).
    """
    from scipy.optimize import minimize_scalar

    cheapest = solve(lambda flops: -(law.optimal_loss(flops) or 0.0), -loss)
    assert cheapest is not None, "a loss above the entropy is reached by some budget"
    start = law.optimum(cheapest)
    assert start is not None

    def whole(log: float) -> float:
        parameters = math.exp(log)
        tokens = law.tokens_for(parameters, loss)
        return math.inf if tokens is None else math.log(6 * parameters * tokens + SERVING * parameters * served)

    low, high = math.log(law.smallest(loss)), math.log(start.parameters)
    found = math.exp(minimize_scalar(whole, bounds=(low + 1e-6, high), method="bounded", options={"xatol": 1e-8}).x)
    tokens = law.tokens_for(found, loss)
    assert tokens is not None
    choice = Choice(found, tokens)
    together = choice.flops + SERVING * found * served
    return Serving(
        choice,
        served,
        choice.flops,
        SERVING * found * served,
        1 - together / (start.flops + SERVING * start.parameters * served),
    )
