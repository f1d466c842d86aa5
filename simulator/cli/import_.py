"""Translate a configuration of another framework into a scenario."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Format = Annotated[
    str,
    typer.Argument(metavar="FORMAT", help="huggingface, megatron, torchtitan, deepspeed, fsdp."),
]
File = Annotated[Path, typer.Argument(metavar="FILE", help="What to read; - is stdin.")]
Host = Annotated[
    str | None, typer.Option("--host", metavar="NAME", help="Add a cluster of these hosts; `foretrain catalog host`.")
]
Hosts = Annotated[
    int | None, typer.Option("--hosts", metavar="N", min=1, max=1_000_000, help="How many of them; one if left out.")
]


def command(format_name: Format, file: File, host: Host = None, hosts: Hosts = None) -> None:
    """Translate a configuration of another framework into a scenario.

    Prints the sections that the file gives as YAML: a config.json of Hugging
    Face its model; arguments of Megatron-LM or torchtitan, a DeepSpeed JSON or
    an FSDP configuration of accelerate also parallelism and training. Every
    argument that means nothing here is named on stderr. Unknown architectures
    are refused, never guessed.

    Examples:
      foretrain import huggingface config.json > mine.yaml
      foretrain import megatron train.sh --host hgx-h100 --hosts 16
      foretrain import deepspeed ds_config.json
    """
    from simulator import convert
    from simulator.cli._files import text_of
    from simulator.cli._streams import show, warn
    from simulator.errors import ScenarioError
    from simulator.scenario import foreign

    module = foreign.known(format_name)
    text = text_of(file, largest=1_000_000)
    try:
        sections, ignored = convert.read(format_name, text), module.ignored(text)
    except ValueError as error:
        raise ScenarioError(f"{file}: {error}") from None
    if host is not None or hosts is not None:
        sections["cluster"] = foreign.cluster(host, hosts)
    warn(f"{file}: {argument}: means nothing here, ignored" for argument in ignored)
    show(foreign.text(sections, format_name))
