"""Arguments that several verbs take, each defined once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from simulator.errors import ScenarioError


def _catalogs(folders: list[Path] | None) -> list[Path] | None:
    """Refuse folders in which no name could ever be found."""
    from simulator.catalog import KINDS

    for folder in folders or ():
        if not any((folder / kind).is_dir() for kind in KINDS):
            found = "has no folder" if folder.is_dir() else "is no folder with one"
            raise ScenarioError(f"--catalog {folder}: {found} named {', '.join(KINDS[:-1])} or {KINDS[-1]}")
    return folders


Scenario = Annotated[
    str, typer.Argument(metavar="SCENARIO", help="A YAML file, or a shipped name such as tutorial/1-one-host.")
]
Overrides = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Change one key of the scenario; may be repeated."),
]
Catalogs = Annotated[
    list[Path] | None,
    typer.Option(
        "--catalog", metavar="DIR", callback=_catalogs, help="Look names up in this folder first; may be repeated."
    ),
]
Runs = Annotated[
    int | None, typer.Option("--runs", metavar="N", min=1, max=100_000, help="Simulated runs for the distributions.")
]
Seed = Annotated[int | None, typer.Option("--seed", metavar="N", min=0, max=2**63, help="Seed of the random streams.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
Out = Annotated[Path | None, typer.Option("--out", metavar="DIR", help="Also write files into this folder.")]
