"""Every key of a scenario moves a result somewhere: each is shown in a scenario in which another value changes it.

The keys come from the shapes that read a scenario, so that a new one is missing from the tables in `moves` until it is
shown. A line names the scenario (`in`, of `bases.yaml`), another value (`to`), and what is set beside it (`with`). Of
words all must give different results, except those that are `alike`. A key that all kinds of an open set have is shown
in each kind, except where it is said to have no meaning.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
import yaml
from every_key import Key, every_key, written

from simulator.engine.prices.assembly import network_of
from simulator.scenario import Scenario, from_dict
from simulator.simulation import simulate
from simulator.studies.space import Space

MOVES = Path(__file__).with_name("moves")
KEYS = every_key()
ECHO = ("scenario", "assumptions", "warnings", "seed")
"""Parts of a result that repeat what was said; so do the memory of a host, and links that nothing uses."""


def table(name: str) -> Any:
    return yaml.safe_load((MOVES / f"{name}.yaml").read_text())


BASES, KINDS, SAID = table("bases"), table("kinds"), table("says_only")
TABLES = ("model", "cluster", "stack", "training", "run", "money")
SHOWN = {key: line for name in TABLES for key, line in table(name).items()}


def base(name: str) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the document of a base, and the changes that make it."""
    found = BASES[name]
    if "of" not in found:
        return copy.deepcopy(found), ()
    document, changes = base(found["of"])
    return document, (*changes, *found["set"])


@cache
def result(name: str, changes: tuple[str, ...], of: str) -> str:
    """Return what comes out of a base with changes, without what repeats them."""
    document, before = base(name)
    scenario = from_dict(document, overrides=(*before, *changes))
    return json.dumps(OUTCOMES[of](scenario), sort_keys=True, default=str)


def of_run(scenario: Scenario) -> Any:
    whole = {key: value for key, value in simulate(scenario).as_dict().items() if key not in ECHO}
    if whole["memory"]:
        del whole["memory"]["host_bytes"]
    whole["step"]["links"] = [links for links in whole["step"]["links"] if links["bytes"]]
    return whole


def of_layouts(scenario: Scenario) -> Any:
    return list(map(str, Space(scenario).layouts()))


def of_drawing(scenario: Scenario) -> Any:
    return sorted(map(str, network_of(scenario.cluster).graph().edges(data="count")))


OUTCOMES = {"run": of_run, "layouts": of_layouts, "drawing": of_drawing}


def lines(key: str) -> list[dict[str, Any]]:
    found = SHOWN[key]
    return found if isinstance(found, list) else [found]


def tries() -> Iterator[tuple[str, str, str]]:
    """Yield every key that is shown, with every kind that has it."""
    for key in SHOWN.keys() & KEYS.keys():
        for number, line in enumerate(lines(key)):
            if not KEYS[key].shared:
                yield key, str(number), ""
            for kind in line.get("kinds", KEYS[key].kinds):
                yield key, str(number), kind


def change(key: Key, word: Any) -> str:
    return f"{key.path}={json.dumps(word) if isinstance(word, list | dict) else word}"


def test_every_key_is_shown_or_only_says_something():
    missing = KEYS.keys() - SHOWN.keys() - SAID.keys()
    assert not missing, (
        f"{sorted(missing)}: show that each moves a result, by a line in tests/scenario/moves "
        f"(KEY: {{in: BASE, to: VALUE}}), or say in says_only.yaml why it need not"
    )
    assert SHOWN.keys() | SAID.keys() == KEYS.keys(), "the tables name keys that do not exist"
    assert not SHOWN.keys() & SAID.keys()


@pytest.mark.parametrize(("key", "number", "kind"), sorted(tries()))
def test_a_key_moves_a_result(key, number, kind):
    line, about = lines(key)[int(number)], KEYS[key]
    beside = tuple(line.get("with", ()))
    if kind:
        beside = (f"{written(about.shared)}.kind={kind}", *KINDS[about.shared][kind], *beside)
    if not about.words:
        other = line["sets"] if "sets" in line else [change(about, line["to"])]
        found = [result(line["in"], (*beside, *more), line.get("of", "run")) for more in ((), other)]
        different = found[0] != found[1]
        assert different is (kind not in line.get("except", ())), (kind, line)
        return
    words = line.get("words", about.words)
    after = words if isinstance(words, dict) else {}
    outcomes = {
        str(word): result(line["in"], (*beside, change(about, word), *after.get(word, ())), line.get("of", "run"))
        for word in words
    }
    alike = {frozenset(map(str, pair)) for group in line.get("alike", ()) for pair in combinations(group, 2)}
    found = {frozenset(pair) for pair in combinations(outcomes, 2) if outcomes[pair[0]] == outcomes[pair[1]]}
    if kind in line.get("except", ()):
        assert len(set(outcomes.values())) == 1, kind
    else:
        assert found == alike


@pytest.mark.parametrize("key", [key for key in SHOWN if key in KEYS and KEYS[key].words])
def test_every_word_of_a_key_is_shown(key):
    shown = {str(word) for line in lines(key) for word in line.get("words", KEYS[key].words)}
    assert shown == set(KEYS[key].words)
