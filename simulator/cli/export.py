"""Translate a scenario into the arguments of a training framework."""

from __future__ import annotations

from typing import Annotated

import typer

from simulator.cli._options import Catalogs, Overrides, Scenario

Format = Annotated[
    str,
    typer.Argument(metavar="FORMAT", help="megatron, torchtitan, deepspeed, fsdp, huggingface."),
]


def command(format_name: Format, scenario: Scenario, overrides: Overrides = None, catalogs: Catalogs = None) -> None:
    """Translate a scenario into the arguments of a training framework.

    Prints flags of Megatron-LM or torchtitan, the JSON of DeepSpeed, the
    accelerate configuration of FSDP, or a config.json of Hugging Face. What a
    format cannot say of the layout and the training is named on stderr; a
    layout that the framework does not have is refused.

    Examples:
      foretrain export megatron published/llama-3.1-405b-16k
      foretrain export deepspeed mine.yaml --set parallelism.shard=parameters
      foretrain export huggingface tutorial/1-one-host > config.json
    """
    from simulator import convert, shipped
    from simulator.cli._streams import show, warn
    from simulator.errors import ScenarioError
    from simulator.scenario import foreign, read
    from simulator.scenario.left_out import left_out

    foreign.known(format_name)
    asked = read(
        scenario if scenario == "-" else shipped.find(scenario), overrides=overrides or (), catalogs=catalogs or ()
    )
    try:
        text = convert.write(format_name, asked.resolved)
        said = convert.read(format_name, text)
    except ValueError as error:
        raise ScenarioError(f"{scenario}: {error}") from None
    if said.keys() - {"model"}:
        warn(f"{key}: not said, or not all of it, in the format of {format_name}" for key in left_out(asked, said))
    show(text)
