"""Print the JSON Schema of a scenario, for editors."""

from __future__ import annotations


def command() -> None:
    """Print the JSON Schema of a scenario, for editors.

    An editor with a YAML language server completes and checks keys when the
    first line of a scenario names the schema:

      # yaml-language-server: $schema=scenario.schema.json

    Examples:
      foretrain schema > scenario.schema.json
    """
    from simulator.cli._streams import show
    from simulator.io.printable import json_text
    from simulator.scenario import json_schema

    show(json_text(json_schema()))
