"""The plan as plain data: the JSON of `foretrain plan --json`."""

from __future__ import annotations

from dataclasses import asdict, fields
from typing import Any

from simulator.studies.plan.planning import Plan
from simulator.studies.plan.run import Run


def record(plan: Plan) -> dict[str, Any]:
    """Return `{inputs, laws, run, ...}`."""
    request = plan.request
    inputs: dict[str, Any] = {name: getattr(plan.question, name) for name in plan.question.given}
    for budget in request.budgets:
        inputs |= {name: value for name, value in asdict(budget).items() if value is not None}
    inputs |= {"law": plan.law.kind, "unique_tokens": request.unique, "served_tokens": request.served}
    inputs["total_over_active"] = request.sparsity
    return {
        "inputs": {name: value for name, value in inputs.items() if value is not None},
        "laws": list(plan.rows),
        "run": None if plan.run is None else of_run(plan.run),
        "batch_schedule": [stage._asdict() for stage in plan.schedule],
        "published_recipes": [recipe._asdict() for recipe in plan.recipes],
        "serving": _serving(plan),
        "warnings": list(plan.warnings),
    }


def of_run(run: Run) -> dict[str, Any]:
    """Return a run with its details beside its figures."""
    flat = {field.name: getattr(run, field.name) for field in fields(run) if field.name != "details"}
    return flat | run.details


def _serving(plan: Plan) -> dict[str, Any] | None:
    if plan.serving is None:
        return None
    found = plan.serving
    return {
        "parameters": found.choice.parameters,
        "tokens": found.choice.tokens,
        "served_tokens": found.served,
        "training_flops": found.training,
        "serving_flops": found.serving,
        "saved": found.saved,
    }
