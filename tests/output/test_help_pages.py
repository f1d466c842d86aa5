"""The help of every verb fits a terminal and shows examples."""

from __future__ import annotations

import re

import pytest
from typer.testing import CliRunner

from simulator import shipped
from simulator.cli import app, load, verbs


@pytest.mark.parametrize("verb", verbs())
def test_help_of_a_verb_fits_80_columns_and_has_examples(verb: str) -> None:
    done = CliRunner().invoke(app, [verb, "--help"], terminal_width=80)
    assert done.exit_code == 0
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert "Examples:\n" in done.stdout
    assert f"foretrain {verb}" in done.stdout.partition("Examples:\n")[2]


def test_help_lists_every_verb_with_a_line() -> None:
    listed = CliRunner().invoke(app, ["--help"]).stdout
    assert max(map(len, listed.splitlines())) <= 80
    for verb, line in verbs().items():
        assert f"  {verb} " in listed
        assert line[0].isupper()


@pytest.mark.parametrize("verb", verbs())
def test_scenarios_that_help_names_are_shipped(verb: str) -> None:
    command = load(verb)
    help_text = "\n".join([command.help, *(parameter.help or "" for parameter in command.params)])
    for name in re.findall(r"\b(?:tutorial|published|studies)/[\w.-]+", help_text):
        assert name.rstrip(".").removesuffix(".yaml") in shipped.names()
