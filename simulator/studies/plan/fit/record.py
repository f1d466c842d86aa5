"""A fit as plain data: constants with intervals, the frontier, the best size at each budget, what it predicts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from simulator.errors import ScenarioError
from simulator.studies.plan.fit.fitted import LEVEL, Fit, FittedLaw
from simulator.studies.plan.fit.fitted import track as on_track
from simulator.studies.plan.fit.frontier import frontier
from simulator.studies.plan.fit.isoflop import isoflop
from simulator.studies.plan.fit.runs import TrainingRuns
from simulator.studies.plan.planning import Plan
from simulator.studies.plan.question import answer
from simulator.units import Number

NAMES = {
    "e": "E",
    "a": "A",
    "b": "B",
    "alpha": "alpha",
    "beta": "beta",
    "exponent": "exponent of the best N over C",
}


def record(found: Fit, runs: TrainingRuns) -> dict[str, Any]:
    edge, slices = frontier(runs), isoflop(runs)
    return {
        "runs": len(runs),
        "resamples": len(found.resampled),
        "level": LEVEL,
        "constants": {name: _with_interval(found, lambda law, name=name: getattr(law, name)) for name in NAMES},
        "scatter": found.scatter,
        "frontier": {"points": len(edge.flops), "exponent": edge.exponent, "scale": edge.scale},
        "isoflop": {
            "exponent": slices.exponent,
            "scale": slices.scale,
            "budgets": [{"flops": s.flops, "best": s.best, "minimum": s.minimum} for s in slices.slices],
        },
    }


def prediction(found: Fit, plan: Plan) -> dict[str, Any]:
    """Return the planned choice and its loss with the intervals of the fit."""
    question = plan.question

    def choose(law: FittedLaw, part: str) -> Number:
        choice = answer(law, question)
        assert choice is not None
        return law.loss(choice) if part == "loss" else float(getattr(choice, part))

    parts = ("parameters", "tokens", "loss")
    fixed = {part for part in parts if getattr(question, part) is not None}
    return {
        part: _with_interval(found, lambda law, part=part: choose(law, part)) for part in parts if part not in fixed
    }


def track(plan: Plan, own: Fit | None, observed: Number) -> dict[str, Any]:
    """Return whether a run with this loss is where the law expects it."""
    if own is not None:
        seen = on_track(own, plan.choice, observed)
        return seen._asdict() | {"word": seen.word, "comparable": True}
    expected = plan.law.loss(plan.choice)
    if expected is None:
        raise ScenarioError(f"--observed: {plan.law.kind} says nothing about the loss; take another --law")
    return {"observed": observed, "expected": expected, "word": "", "comparable": False}


def _with_interval(found: Fit, of: Callable[..., Number]) -> dict[str, Number | None]:
    interval = found.interval(of)
    low, high = (None, None) if interval is None else interval
    return {"value": of(found.law), "low": low, "high": high}
