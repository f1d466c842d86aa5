"""A key that was written and changes nothing gets a warning, and no result changes with a key that gets one."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator

import pytest
from test_every_key_moves_something import BASES, KEYS, SAID, base, change, lines, result, table

from simulator import catalog
from simulator.errors import ScenarioError
from simulator.scenario import Scenario, from_dict
from simulator.scenario.without_effect import LINES

WITHOUT = table("without")
SAYS = ": no effect here, for "

EVERY = int(os.environ.get("EVERY", "11"))
"""One try in so many is made where there is time; EVERY=1 takes half an hour."""


def warned(name: str, changes: tuple[str, ...]) -> dict[str, str]:
    """Return the reason that is given for each key without effect."""
    document, before = base(name)
    return warned_by(from_dict(document, overrides=(*before, *changes)))


def warned_by(scenario: Scenario) -> dict[str, str]:
    split = (warning.split(SAYS) for warning in scenario.warnings if SAYS in warning)
    return {key: reason for keys, reason in split for key in keys.split(", ")}


def path(of: str) -> str:
    """Return the key of a change as a warning names it."""
    return re.sub(r"\.(\d+)", r"[\1]", of.partition("=")[0])


def told(text: str) -> object:
    """Return a result but for the last bits of its numbers, which the order of a sum decides."""
    return json.loads(text, parse_float=lambda number: f"{float(number):.12g}")


@pytest.mark.parametrize("line", WITHOUT, ids=lambda line: line["set"])
def test_a_key_without_effect_is_named_and_changes_nothing(line):
    beside, key = tuple(line.get("with", ())), line.get("key") or path(line["set"])
    found = warned(line["in"], (*beside, line["set"]))
    assert any(name.startswith(key) for name in found)
    assert told(result(line["in"], (*beside, line["set"]), "run")) == told(result(line["in"], beside, "run"))


def test_every_line_of_the_table_has_such_a_scenario():
    said = {reason for line in WITHOUT for reason in warned(line["in"], (*line.get("with", ()), line["set"])).values()}
    assert [line.keys for line in LINES if f"{line.why}; {line.needs}" not in said] == []


def test_every_line_is_about_keys_that_exist():
    names = {re.sub(r"\([^)]*\)|\[]", "", name) for name in KEYS}
    said = {key for line in LINES for key in line.keys.split()}
    below = {name.rpartition(".")[0] + ".*" for name in names}
    assert said <= names | below


def tries(step: int) -> Iterator[tuple[str, str]]:
    """Yield every key with each of its values in each base, or one in `step` of them."""
    found = [
        (name, change(KEYS[key], word))
        for name in BASES
        for key in KEYS
        if key not in SAID and not key.startswith(("search", "calibration", "expect", "runs", "seed"))
        for word in (KEYS[key].words or [lines(key)[0].get("to", "")])
    ]
    return iter(found[::step])


@pytest.mark.parametrize("step", [97, pytest.param(EVERY, marks=pytest.mark.slow)])
def test_no_result_changes_with_a_key_that_gets_a_warning(step):
    wrong = []
    for name, said in tries(step):
        try:
            if path(said) not in warned(name, (said,)):
                continue
            if told(result(name, (said,), "run")) != told(result(name, (), "run")):
                wrong.append((name, said))
        except ScenarioError:
            continue
    assert wrong == []


@pytest.mark.parametrize("name", catalog.names("stack"))
def test_nothing_that_a_name_brings_gets_a_warning(name):
    every_axis = f"stack={{base: {name}, axes: [tensor, pipeline, context, expert]}}"
    assert warned("dense", (every_axis, "failures=llama3", "model=llama-3.1-8b")) == {}


@pytest.mark.parametrize("name", BASES)
def test_the_echo_of_a_scenario_gets_no_more_warnings_than_the_scenario(name):
    document, before = base(name)
    scenario = from_dict(document, overrides=before)
    assert warned_by(from_dict(scenario.resolved)).keys() <= warned_by(scenario).keys()
