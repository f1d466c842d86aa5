"""A plan for a terminal: what each law says, then what the chosen one takes."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from simulator.io.printable import Page
from simulator.io.readable import digits, dollars, energy, mass, percent, prefixed
from simulator.io.terminal import page, table
from simulator.studies.plan.planning import Plan
from simulator.studies.plan.run import Run

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

LOSSES = (
    "A loss is that of the law's own data and tokenizer: losses in different rows are not to be compared. "
    "* is outside the runs that the law was fitted to."
)


def write(plan: Plan, console: Console | None = None, below: Iterable[Any] = ()) -> Page:
    """Return the plan as text, and more blocks below it."""
    blocks: list[Any] = [_answer(plan), _laws(plan), _wrapped(LOSSES), *_detour(plan)]
    if plan.run is not None:
        blocks.append(of_run(plan.run))
    if plan.serving is not None:
        blocks.append(_serving(plan))
    blocks += [_schedule(plan), _recipes(plan)]
    spaced = [one for block in blocks if block for one in ("", *(block if isinstance(block, tuple) else (block,)))]
    return page([*spaced[1:], *below], console)


def _answer(plan: Plan) -> str:
    choice = plan.choice
    said = (
        f"{count(choice.parameters)} parameters on {count(choice.tokens)} tokens, {digits(choice.ratio)} a parameter, "
        f"{choice.flops:.3g} FLOPs, by {plan.law.title}."
    )
    return _wrapped(said)


def _laws(plan: Plan) -> Table:
    fixed = any("tokens_over_optimal" in row for row in plan.rows)
    head = ("law", "parameters", "tokens", "D/N", "loss", "FLOPs", "x best D" if fixed else "batch", "rate")
    rows = [
        (
            row["name"] + ("" if row["in_range"] else " *"),
            count(row["parameters"]),
            count(row["tokens"]),
            digits(row["tokens_per_parameter"]),
            "" if row["loss"] is None else f"{row['loss']:.3f}",
            f"{row['flops']:.2e}",
            _beside(row, fixed),
            "" if row["learning_rate"] is None else f"{row['learning_rate']:.1e}",
        )
        for row in plan.rows
    ]
    return table(head, rows)


def _beside(row: dict[str, Any], fixed: bool) -> str:
    """Return how over-trained a choice that was given is, else the batch that a law advises."""
    value = row.get("tokens_over_optimal") if fixed else row["batch_tokens"]
    if value is None:
        return ""
    return digits(value) if fixed else count(value)


def _detour(plan: Plan) -> list[str]:
    row = plan.rows[0]
    lines = []
    if "tokens_over_optimal" in row:
        much, extra = row["tokens_over_optimal"], row["flops_over_cheapest"]
        said = f"{'Over' if much > 1 else 'Under'}-trained: {digits(much)} times the tokens that are best for the size"
        if extra is not None:
            said += f", {digits(extra)} times the FLOPs of the cheapest way to the same loss"
        lines.append(f"{said}.")
    if "epochs" in row:
        lines.append(f"{digits(row['epochs'])} epochs over the unique tokens.")
    if "total_parameters" in row:
        lines.append(f"{count(row['total_parameters'])} parameters in all, experts that a token does not use included.")
    return [_wrapped(line) for line in lines]


def of_run(run: Run) -> str:
    """Return what the run takes, in lines."""
    facts = [("GPU-hours", prefixed(run.gpu_hours))]
    if run.days is not None:
        facts.append(("days", digits(run.days)))
    if run.dollars is not None:
        facts.append(("cost", dollars(run.dollars)))
    if run.mfu is not None:
        facts.append(("MFU", f"{percent(run.mfu)}{' (typed in)' if run.how == 'typed in' else ''}"))
    if run.energy_j is not None:
        facts.append(("energy", energy(run.energy_j)))
    if run.co2_kg is not None:
        facts.append(("CO2", mass(run.co2_kg)))
    where = "" if run.gpus is None else f" on {run.gpus:,} GPUs"
    title = f"The run{where}, {'simulated' if run.how == 'simulated' else 'from a rate that was typed in'}:"
    lines = [title, *(f"  {label:<10} {value}" for label, value in facts)]
    if run.details:
        lines += [f"  {'model':<10} {_model(run.details['model'])}", *_layout(run.details["layout"])]
    return "\n".join(lines)


def _model(model: dict[str, Any]) -> str:
    active = (
        "" if model["active_parameters"] == model["parameters"] else f" ({count(model['active_parameters'])} active)"
    )
    return (
        f"{count(model['parameters'])}{active}: {model['layers']} layers, hidden {model['hidden']:,}, "
        f"{model['heads']} heads"
    )


def _layout(layout: dict[str, Any]) -> list[str]:
    axes = ("tensor", "pipeline", "context", "expert", "data")
    used = " x ".join(f"{axis} {layout[axis]}" for axis in axes if layout[axis] > 1) or "one GPU"
    said = f"{used}, microbatch {layout['microbatch']}, shard {layout['shard']}, recompute {layout['recompute']}"
    return textwrap.wrap(said, 78, initial_indent=f"  {'layout':<10} ", subsequent_indent=" " * 13)


def _serving(plan: Plan) -> str:
    found = plan.serving
    assert found is not None
    choice = found.choice
    return _wrapped(
        f"To serve {count(found.served)} tokens too, the same loss is cheapest with {count(choice.parameters)} "
        f"parameters on {count(choice.tokens)} tokens: {found.training:.3g} FLOPs to train, {found.serving:.3g} to "
        f"serve, {percent(found.saved)} less in all than with the model that is cheapest to train (arXiv 2401.00448)."
    )


def _schedule(plan: Plan) -> tuple[Any, ...]:
    rows = [(percent(s.share), count(s.tokens), count(s.batch_tokens)) for s in plan.schedule]
    title = "Critical batch as the loss falls, by arXiv 2001.08361:"
    return title, table(("of the run", "tokens", "batch tokens"), rows)


def _recipes(plan: Plan) -> tuple[Any, ...]:
    if not plan.recipes:
        return ()
    rows = [
        (r.model, "" if r.batch_tokens is None else count(r.batch_tokens), f"{r.learning_rate:.1e}", r.source)
        for r in plan.recipes
    ]
    return "Published models of about this size:", table(("model", "batch", "rate", "source"), rows)


def count(value: float) -> str:
    """Return a large number as one says it.

    >>> count(9.13e10), count(1.83e12), count(4.2e15)
    ('91.3B', '1.83T', '4,200T')
    """
    return prefixed(value)


def _wrapped(said: str) -> str:
    return textwrap.fill(said, 79)
