"""Read scenarios and say what is wrong, without simulating them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from simulator.cli._options import Catalogs, Overrides

if TYPE_CHECKING:
    from simulator.scenario import Scenario

Scenarios = Annotated[
    list[str], typer.Argument(metavar="SCENARIO...", help="YAML files, or shipped names such as tutorial/1-one-host.")
]


def command(scenarios: Scenarios, overrides: Overrides = None, catalogs: Catalogs = None) -> None:
    """Read scenarios and say what is wrong, without simulating them.

    Prints one line for each scenario that can be run. Every mistake goes to
    stderr as file:line:column, what is wrong and what to write; then the exit
    code is 2.

    Examples:
      foretrain check mine.yaml
      foretrain check scenarios/*.yaml
      foretrain check mine.yaml --set cluster.hosts=64
    """
    import sys

    from simulator import shipped
    from simulator.cli._streams import show, warn
    from simulator.errors import ScenarioError
    from simulator.scenario import read

    wrong = 0
    for name in scenarios:
        try:
            scenario = read(
                name if name == "-" else shipped.find(name), overrides=overrides or (), catalogs=catalogs or ()
            )
        except ScenarioError as error:
            wrong += 1
            sys.stderr.write(f"{error}\n")
            continue
        warn(f"{name}: {warning}" for warning in scenario.warnings)
        show(f"{name}: ok, {summary(scenario)}")
    if wrong:
        raise typer.Exit(2)


def summary(scenario: Scenario) -> str:
    """Return on half a line what the scenario is about."""
    hosts = f"{scenario.cluster.hosts:,} {scenario.cluster.host_name}"
    layout = scenario.parallelism
    if layout is None:
        return f"{scenario.gpus:,} GPUs ({hosts}), a measured step"
    axes = {"tensor": layout.tensor, "pipeline": layout.pipeline, "context": layout.context.size}
    axes |= {"expert": layout.expert, "data": scenario.data}
    used = " x ".join(f"{axis} {size}" for axis, size in axes.items() if size > 1) or "one GPU"
    return f"{scenario.model_name or 'a measured step'} on {scenario.gpus:,} GPUs ({hosts}), {used}"
