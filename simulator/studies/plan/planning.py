"""The plan: what every law says about a question, and what the choice of one of them takes on a cluster."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from simulator.errors import InfeasibleError, ScenarioError
from simulator.studies.plan import batch, recipes, trade
from simulator.studies.plan.laws import DEFAULT, law, laws
from simulator.studies.plan.laws.base import Choice, Law
from simulator.studies.plan.laws.kaplan_2020 import Kaplan
from simulator.studies.plan.laws.muennighoff_2023 import GOOD_EPOCHS
from simulator.studies.plan.laws.parametric import Parametric
from simulator.studies.plan.question import Question, answer
from simulator.studies.plan.run import Budget, Cluster, Run
from simulator.units import Number


@dataclass(frozen=True, kw_only=True)
class Request:
    question: Question
    budgets: tuple[Budget, ...] = ()
    """The tightest of them counts."""
    law: str = DEFAULT
    """Whose choice is run."""
    cluster: Cluster | None = None
    unique: Number | None = None
    """Tokens of data that are different."""
    served: Number | None = None
    """Tokens that the model will serve."""
    sparsity: Number = 1.0
    """Total over active parameters of a mixture of experts; laws speak of active ones."""
    own: Law | None = None
    """A law that was fitted to the user's runs."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    request: Request
    question: Question
    """With the FLOPs that the budgets buy."""
    law: Law
    choice: Choice
    rows: tuple[dict[str, Any], ...]
    run: Run | None
    schedule: tuple[batch.Stage, ...] = ()
    recipes: tuple[recipes.Recipe, ...] = ()
    serving: trade.Serving | None = None
    warnings: tuple[str, ...] = field(default=())


def plan(request: Request) -> Plan:
    """Return what to train.

    Raises ScenarioError where the question says too much or too little, InfeasibleError where the law has no answer.
    """
    chosen = _limited(request.own if request.own is not None else law(request.law), request)
    question = _with_budget(request, chosen)
    choice = answer(chosen, question)
    if choice is None:
        raise InfeasibleError(f"{chosen.kind}: the law does not say; `foretrain catalog law` lists what each one does")
    every = [_limited(one, request) for one in laws().values()]
    asked = [chosen, *(one for one in every if one.kind != chosen.kind)]
    rows = [row for one in asked if (row := _row(one, question, request)) is not None]
    return Plan(
        request=request,
        question=question,
        law=chosen,
        choice=choice,
        rows=tuple(rows),
        run=None if request.cluster is None else request.cluster.run(choice, chosen),
        schedule=batch.schedule(choice.tokens, _kaplan_loss(choice)),
        recipes=recipes.near(choice.parameters),
        serving=_serving(chosen, choice, request),
        warnings=_warnings(chosen, choice, rows, request),
    )


def _limited(one: Law, request: Request) -> Law:
    return one if request.unique is None else one.limited(request.unique)


def _with_budget(request: Request, chosen: Law) -> Question:
    """Return the question with the FLOPs that the tightest budget buys."""
    question, cluster = request.question, request.cluster
    if not request.budgets:
        return question
    if question.flops is not None:
        raise ScenarioError("FLOPs and a budget in dollars, GPU-hours or days say the same; give one of them")
    if cluster is None:
        raise ScenarioError("dollars, GPU-days and days need a machine: a scenario, or --gpu and --mfu, or --rate")
    if len(question.given) > 1:
        raise ScenarioError("a budget and two more values say too much; leave one out")

    def choose(flops: Number) -> Choice:
        found = answer(chosen, replace(question, flops=flops))
        if found is None:
            raise InfeasibleError(f"{chosen.kind}: the law does not say what to train for a budget")
        return found

    return replace(question, flops=min(cluster.affords(budget, choose, chosen) for budget in request.budgets))


def _row(one: Law, question: Question, request: Request) -> dict[str, Any] | None:
    """Return what one law says; None where it says nothing."""
    try:
        choice = answer(one, question)
    except (InfeasibleError, ScenarioError):
        return None
    if choice is None or one.optimum(choice.flops) is None:
        return None
    loss = one.optimal_loss(choice.flops) if question.at_the_optimum else one.loss(choice)
    outside = one.outside(choice)
    row: dict[str, Any] = {
        "name": one.kind,
        "title": one.title,
        "parameters": choice.parameters,
        "tokens": choice.tokens,
        "tokens_per_parameter": choice.ratio,
        "loss": loss,
        "flops": choice.flops,
        "flops_definition": one.counts,
        "batch_tokens": one.batch_tokens(choice),
        "learning_rate": one.learning_rate(choice),
        "in_range": not outside,
        "outside": list(outside),
        "source": one.source,
    }
    if request.sparsity != 1:
        row["total_parameters"] = choice.parameters * request.sparsity
    if request.unique is not None:
        row["epochs"] = choice.tokens / request.unique
    if not question.at_the_optimum and (found := trade.detour(one, choice)) is not None:
        row["tokens_over_optimal"], row["flops_over_cheapest"] = found
    return row


def _kaplan_loss(choice: Choice) -> Callable[[Number], Number]:
    kaplan = Kaplan()
    return lambda tokens: kaplan.loss(Choice(choice.parameters, tokens))


def _serving(chosen: Law, choice: Choice, request: Request) -> trade.Serving | None:
    if request.served is None:
        return None
    if not isinstance(chosen, Parametric):
        raise ScenarioError(f"{chosen.kind}: serving needs a law of the loss, such as {DEFAULT}")
    return trade.for_serving(chosen, chosen.loss(choice), request.served)


def _warnings(chosen: Law, choice: Choice, rows: list[dict[str, Any]], request: Request) -> tuple[str, ...]:
    found = [f"{chosen.kind}: {what}" for what in chosen.outside(choice)]
    others = [row["name"] for row in rows if not row["in_range"] and row["name"] != chosen.kind]
    if others:
        found.append(f"also outside the runs they were fitted to: {', '.join(others)}")
    if chosen.caution:
        found.append(f"{chosen.kind}: {chosen.caution}")
    if request.unique is not None and choice.tokens > GOOD_EPOCHS * request.unique:
        found.append(
            f"{choice.tokens / request.unique:.1f} epochs over the unique tokens: beyond {GOOD_EPOCHS:.0f} each is "
            "worth clearly less than new data (arXiv 2305.16264); the row muennighoff-2023 counts it"
        )
    return tuple(found)
