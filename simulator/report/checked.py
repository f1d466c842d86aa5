"""What `foretrain check` says of a scenario: what it is about, whether it fits, and what to change."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from simulator.io.printable import printable
from simulator.outcome.results import Advice
from simulator.report import fit, optimism
from simulator.scenario import Scenario
from simulator.workload.memory import MemoryEstimate

MOST = 6
"""Changes that are printed for each scenario."""


def lines(
    name: str, scenario: Scenario, held: MemoryEstimate | None, advice: Sequence[Advice], *, always: bool = False
) -> Iterator[str]:
    """Yield what there is to say: verdict, need and reason, and advice where it does not fit, or `always`."""
    word = "ok" if held is None else fit.WORDS[held.verdict].lower()
    yield f"{printable(name)}: {word}, {summary(scenario)}"
    if held is None:
        yield from _optimism(scenario)
        return
    yield f"  {fit.need(held, held.verdict)}, {fit.reason(held)}"
    if held.verdict == "fits" and not (always or advice):
        yield from _optimism(scenario)
        return
    saves = "to save memory" if held.verdict == "fits" else "to make it fit"
    yield f"  {saves}, cheapest first:" if advice else f"  no change that this program knows is enough {saves}"
    yield from (f"    {line}" for line in fit.lines(advice[:MOST]))
    yield from _optimism(scenario)


def _optimism(scenario: Scenario) -> Iterator[str]:
    """Yield the line on optimistic defaults of a run that failures can stop."""
    stopped = any(cause.interrupts for cause in scenario.failures.causes)
    if stopped and (said := optimism.line(scenario.assumptions, scenario.gpus)):
        yield f"  {said}"


def summary(scenario: Scenario) -> str:
    """Return on half a line what the scenario is about."""
    hosts = f"{scenario.cluster.hosts:,} {scenario.cluster.host_name}"
    layout = scenario.parallelism
    if layout is None:
        return f"{scenario.gpus:,} GPUs ({hosts}), a measured step"
    axes = {"tensor": layout.tensor, "pipeline": layout.pipeline, "context": layout.context.size}
    axes |= {"data": scenario.data}
    used = " x ".join(f"{axis} {size}" for axis, size in axes.items() if size > 1) or "one GPU"
    used += f" (expert {layout.expert} inside)" if layout.expert > 1 else ""
    return f"{scenario.model_name or 'a measured step'} on {scenario.gpus:,} GPUs ({hosts}), {used}"
