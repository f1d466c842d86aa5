"""Read scenarios and say whether they fit, and what to change if they do not, without simulating them."""

from __future__ import annotations

from typing import Annotated

import typer

from simulator.cli._options import Catalogs, Overrides

Scenarios = Annotated[
    list[str], typer.Argument(metavar="SCENARIO...", help="YAML files, or shipped names such as tutorial/1-one-host.")
]
Advise = Annotated[bool, typer.Option("--advice", help="Say what would save memory even where the scenario fits.")]


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
    from simulator.api.runs import check
    from simulator.cli._streams import say, show, warn, wrapped
    from simulator.errors import ForetrainError
    from simulator.report import checked
    from simulator.scenario import read

    wrong = large = 0
    for name in scenarios:
        try:
            scenario = read(
                name if name == "-" else shipped.find(name), overrides=overrides or (), catalogs=catalogs or ()
            )
            found = check(scenario, advice=advice)
            text = "\n".join(checked.lines(name, scenario, found.memory, found.advice, always=advice))
        except ForetrainError as error:
            wrong += 1
            say(str(error))
            continue
        large += found.verdict == "oom"
        warn(f"{name}: {warning}" for warning in scenario.warnings)
        show(wrapped(text, sys.stdout))
    if wrong or large:
        raise typer.Exit(2 if wrong else 1)
