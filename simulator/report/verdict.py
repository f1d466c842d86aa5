"""The first line of a report: does it fit, and does it get anywhere."""

from __future__ import annotations

from simulator.readable import NO_PROGRESS, convention, dollars, duration, percent, prefixed
from simulator.report.fit import WORDS, need
from simulator.report.section import Fact
from simulator.results import Result


def verdict(result: Result) -> tuple[str, str]:
    """Return the verdict in a word or two, and the sentence that follows it."""
    if not result.run.progress:
        return "No progress", NO_PROGRESS
    if result.verdict is None or result.memory is None:
        return "Not checked", "the step is given, so the memory is not computed"
    return WORDS[result.verdict], need(result.memory, result.verdict)


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
    """Return which program said this, about how many GPUs and parameters, from how many runs."""
    model = f"{prefixed(result.model.parameters)} parameters, " if result.model else ""
    if result.model and result.model.active_parameters != result.model.parameters:
        model = f"{model[:-2]} ({prefixed(result.model.active_parameters)} active), "
    runs = f", {len(result.run.samples):,} simulated runs" if result.run.samples else ""
    return f"{model}{gpus(result):,} GPUs{runs}, seed {result.seed}, foretrain {result.version}"
