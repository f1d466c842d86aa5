"""Counts on the command line have a least and a most: processes, runs and refits cost what they say."""

from __future__ import annotations

import importlib
import pkgutil
import typing

import pytest
from typer.testing import CliRunner

import simulator.cli
from simulator.cli import app
from simulator.scenario.limits import LIMITS

VERBS = {
    one.name: importlib.import_module(f"simulator.cli.{one.name}").command
    for one in pkgutil.iter_modules(simulator.cli.__path__)
    if not one.name.startswith("_")
}
OPTIONS = [
    (verb, name, hint.__metadata__[0])
    for verb, command in VERBS.items()
    for name, hint in typing.get_type_hints(command, include_extras=True).items()
    if typing.get_origin(hint) is typing.Annotated and int in {hint.__origin__, *typing.get_args(hint.__origin__)}
]
"""Whole numbers; the others are factors of a scaling law."""


@pytest.mark.parametrize(("verb", "name", "option"), OPTIONS)
def test_every_count_has_a_least_and_a_most(verb, name, option):
    assert option.min is not None
    assert option.max is not None


def test_runs_and_seed_have_the_limits_of_the_scenario():
    found = {name: (option.min, option.max) for verb, name, option in OPTIONS if verb == "run"}
    assert {name: found[name] for name in ("runs", "seed")} == {name: LIMITS[name] for name in ("runs", "seed")}


@pytest.mark.parametrize(
    ("command", "option", "most"),
    [
        ("run tutorial/1-one-host --runs 100001", "--runs", "100000"),
        ("sweep tutorial/1-one-host --vary seed=[1,2] --jobs 1000000", "--jobs", "1024"),
        ("plan --fit x.csv --bootstrap 1000000000", "--bootstrap", "10000"),
        ("new x.yaml --hosts 1000001", "--hosts", "1000000"),
    ],
)
def test_more_than_the_most_is_refused_with_the_most(command, option, most):
    done = CliRunner().invoke(app, command.split())
    assert done.exit_code == 2
    assert f"'{option}'" in done.stderr
    assert most in done.stderr
