"""Read scenarios and say whether they fit, and what to change if they do not, without simulating them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from simulator.cli._options import Catalogs, Overrides

if TYPE_CHECKING:
    from simulator.scenario import Scenario
    from simulator.workload.memory import MemoryEstimate

Scenarios = Annotated[
    list[str], typer.Argument(metavar="SCENARIO...", help="YAML files, or shipped names such as tutorial/1-one-host.")
]
Advise = Annotated[bool, typer.Option("--advice", help="Say what would save memory even where the scenario fits.")]

MOST = 6
"""Changes that are printed for each scenario."""


def command(
    scenarios: Scenarios, overrides: Overrides = None, catalogs: Catalogs = None, advice: Advise = False
) -> None:
    """Read scenarios and say whether they fit, without simulating the run.

    Prints for each scenario whether it fits, what the fullest pipeline stage
    needs and what most of that is. Where it does not fit, or only just, the
    cheapest changes that make it fit follow, with what each costs. Every
    mistake goes to stderr as file:line:column, what is wrong and what to write.
    Exits 1 when something does not fit, 2 when something is wrong.

    Examples:
      foretrain check mine.yaml
      foretrain check scenarios/*.yaml
      foretrain check mine.yaml --set cluster.hosts=64
      foretrain check mine.yaml --advice
    """
    import sys

    from simulator import shipped
    from simulator.cli._streams import say, show, warn, wrapped
    from simulator.errors import ForetrainError
    from simulator.scenario import read

    wrong = large = 0
    for name in scenarios:
        try:
            scenario = read(
                name if name == "-" else shipped.find(name), overrides=overrides or (), catalogs=catalogs or ()
            )
            held = _memory(scenario)
            text = "\n  ".join((*_lines(name, scenario, held, always=advice), *_optimism(scenario)))
        except ForetrainError as error:
            wrong += 1
            say(str(error))
            continue
        large += held is not None and held.verdict == "oom"
        warn(f"{name}: {warning}" for warning in scenario.warnings)
        show(wrapped(text, sys.stdout))
    if wrong or large:
        raise typer.Exit(2 if wrong else 1)


def _memory(scenario: Scenario) -> MemoryEstimate | None:
    """Return the memory of a scenario, None where there is nothing to compute it from."""
    if scenario.model is None or scenario.parallelism is None:
        return None
    from simulator.simulation import fits

    return fits(scenario)


def _lines(name: str, scenario: Scenario, held: MemoryEstimate | None, *, always: bool) -> Iterator[str]:
    """Yield what there is to say of a scenario: verdict, need and reason, and advice where it is wanted."""
    from simulator.io.printable import printable
    from simulator.report import fit
    from simulator.studies.advice import advise

    word = "ok" if held is None else fit.WORDS[held.verdict].lower()
    yield f"{printable(name)}: {word}, {summary(scenario)}"
    if held is None:
        return
    yield f"{fit.need(held, held.verdict)}, {fit.reason(held)}"
    if held.verdict == "fits" and not always:
        return
    found = advise(scenario)
    saves = "to save memory" if held.verdict == "fits" else "to make it fit"
    yield f"{saves}, cheapest first:" if found else f"no change that this program knows is enough {saves}"
    yield from (f"  {line}" for line in fit.lines(found[:MOST]))


def _optimism(scenario: Scenario) -> Iterator[str]:
    """Yield the line on optimistic defaults of a run that failures can stop."""
    from simulator.report import optimism

    stopped = any(cause.interrupts for cause in scenario.failures.causes)
    if stopped and (said := optimism.line(scenario.assumptions, scenario.gpus)):
        yield said


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
