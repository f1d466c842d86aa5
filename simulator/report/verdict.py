"""The first lines of a report: does it fit, does it get anywhere, and does it keep its targets."""

from __future__ import annotations

from typing import Any, NamedTuple

from simulator.io.readable import NO_PROGRESS, chance, convention, dollars, duration, percent, prefixed
from simulator.outcome.results import Result
from simulator.plots import colours
from simulator.report.fit import WORDS, need
from simulator.report.section import Fact


class Answer(NamedTuple):
    word: str
    """A word or two."""
    sentence: str
    """What follows them."""
    colour: str


def answers(result: Result) -> tuple[Answer, ...]:
    """Return what decides: whether it fits, or gets anywhere; ahead of that the targets that it misses."""
    if not result.run.progress:
        return (Answer("No progress", NO_PROGRESS, colours.VERMILLION),)
    if result.verdict is None or result.memory is None:
        fits = Answer("Not checked", "the step is given, so the memory is not computed", colours.DARK_GREY)
    else:
        fits = Answer(WORDS[result.verdict], need(result.memory, result.verdict), colours.VERDICT[result.verdict])
    missed = [chance_to_miss(name, result.targets) for name in result.targets.get("missed", ())]
    return (*((Answer("Misses", ", ".join(missed), colours.VERMILLION),) if missed else ()), fits)


def chance_to_miss(name: str, targets: dict[str, Any]) -> str:
    """Return a target, and how likely it is missed.

    >>> chance_to_miss("deadline", {"deadline_s": 80 * 86400.0, "p_late": 0.97})
    'the deadline of 80.0 days with 97%'
    """
    if name == "deadline":
        return f"the deadline of {duration(targets['deadline_s'])} with {chance(targets['p_late'])}"
    return f"the budget of {dollars(targets['budget_dollars'])} with {chance(targets['p_over_budget'])}"


def figures(result: Result) -> tuple[Fact, ...]:
    """Return the few numbers that decide: step, MFU, days, goodput, dollars."""
    step, run, cost = result.step, result.run, result.cost
    facts = [
        Fact(
            label="step",
            value=duration(step.time_s),
            note=f"{duration(step.time_low_s)} to {duration(step.time_high_s)}",
        )
    ]
    if step.mfu is not None:
        facts.append(Fact(label="MFU", value=percent(step.mfu), note=convention(step.mfu_convention)))
    if run.progress:
        wall = run.wall_clock_s
        facts += [
            Fact(label="wall clock", value=duration(wall.p50), note=f"P90 {duration(wall.p90)}"),
            Fact(label="goodput", value=percent(run.goodput.mean), note=f"P10 {percent(run.goodput.p10)}"),
            Fact(label="cost", value=dollars(cost.dollars.p50), note=f"{prefixed(cost.gpu_hours.p50)} GPU-hours"),
        ]
    return tuple(facts)


def gpus(result: Result) -> int:
    """Return the number of GPUs that train."""
    share = result.step.tokens_per_s_per_gpu
    return round(result.step.tokens_per_s / share) if share else 0


def subtitle(result: Result) -> str:
    """Return which program with which plugins said this, about how many GPUs and parameters, from how many runs."""
    model = f"{prefixed(result.model.parameters)} parameters, " if result.model else ""
    if result.model and result.model.active_parameters != result.model.parameters:
        model = f"{model[:-2]} ({prefixed(result.model.active_parameters)} active), "
    runs = f", {len(result.run.samples):,} simulated runs" if result.run.samples else ""
    if result.model and result.model.trained_parameters != result.model.parameters:
        model = f"{model[:-2]}, {result.model.trained_parameters:,} trained, "
    brought = "".join(f", plugin {one.file} ({one.sha256[:8]})" for one in result.plugins)
    return f"{model}{gpus(result):,} GPUs{runs}, seed {result.seed}, foretrain {result.version}{brought}"
