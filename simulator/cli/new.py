"""Write a commented scenario to start from."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

File = Annotated[Path | None, typer.Argument(metavar="FILE", help="Where to write it; stdout where left out.")]
Model = Annotated[str, typer.Option("--model", help="A name that `foretrain catalog model` lists.")]
Host = Annotated[str, typer.Option("--host", help="A name that `foretrain catalog host` lists.")]
Hosts = Annotated[int, typer.Option("--hosts", min=1, max=1_000_000, help="How many hosts.")]


def command(file: File = None, model: Model = "llama-3.1-8b", host: Host = "hgx-h100", hosts: Hosts = 2) -> None:
    """Write a commented scenario to start from.

    The scenario is valid as it is; keys that are commented out show what else
    may be said. A file that exists is not overwritten.

    Examples:
      foretrain new mine.yaml
      foretrain new mine.yaml --model llama-3.1-70b --hosts 32
      foretrain new | foretrain check -
    """
    from simulator.cli._streams import say, show
    from simulator.scenario import starter

    text = starter.write(model=model, host=host, hosts=hosts)
    if file is None:
        show(text)
        return
    _create(file, text)
    say(f"{file} written; `foretrain run {file}` simulates it")


def _create(file: Path, text: str) -> None:
    """Write a file that is not there yet; one that could not be written whole does not stay."""
    from simulator.errors import ScenarioError

    try:
        with file.open("x", encoding="utf-8") as target:
            try:
                target.write(text)
                target.flush()
            except BaseException:
                file.unlink()
                raise
    except FileExistsError:
        raise ScenarioError(f"{file}: exists already; choose another name or remove it") from None
    except OSError as error:
        raise ScenarioError(f"{file}: cannot be written: {error.strerror}") from None
