"""Whatever is written: a scenario or a ScenarioError, soon."""

from __future__ import annotations

import copy
import json
from typing import Any

import yaml
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from simulator import shipped
from simulator.errors import ScenarioError
from simulator.scenario import from_dict, read

TEXTS = [file.read_text() for file in sorted(shipped.folder().rglob("*.yaml"))]
ECHOES = [read(text).resolved for text in TEXTS]
QUANTITIES = ["0", "1", "-1", "3", "1e18", "0.5", "8%", "30m", "10min", "1GB", "400Gbps", "$2", "nan", "", "null", "~"]
WORDS = ["none", "kind", "base", "llama3", "h100", "../x", "gpt-2", "full", "1f1b", "fixed", "true", "[", "*a", "!x"]
SCALARS = st.sampled_from(QUANTITIES + WORDS) | st.integers(-2, 2**70) | st.floats() | st.booleans() | st.none()
DATA = st.recursive(
    SCALARS | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(WORDS) | st.text(max_size=5), inner),
    max_leaves=8,
)
QUICK = settings(max_examples=150, deadline=2000, suppress_health_check=[HealthCheck.too_slow])


def try_to(act, *arguments, **named) -> None:
    try:
        scenario = act(*arguments, **named)
    except ScenarioError:
        return
    json.dumps(scenario.resolved, allow_nan=False)
    assert from_dict(scenario.resolved) == scenario


def keys(data: Any, path: tuple = ()) -> list[tuple]:
    inner = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    return [path, *(found for key, value in inner for found in keys(value, (*path, key)))]


@QUICK
@given(data=st.data(), value=DATA)
def test_one_value_of_a_scenario_replaced_by_anything(data, value):
    scenario = copy.deepcopy(data.draw(st.sampled_from(ECHOES)))
    *above, last = data.draw(st.sampled_from([path for path in keys(scenario) if path]))
    holder = scenario
    for key in above:
        holder = holder[key]
    holder[last] = value
    try_to(from_dict, scenario)


@QUICK
@given(data=st.data())
def test_one_key_of_a_scenario_left_out(data):
    scenario = copy.deepcopy(data.draw(st.sampled_from(ECHOES)))
    *above, last = data.draw(st.sampled_from([path for path in keys(scenario) if path and isinstance(path[-1], str)]))
    holder = scenario
    for key in above:
        holder = holder[key]
    del holder[last]
    try_to(from_dict, scenario)


@QUICK
@given(text=st.sampled_from(TEXTS), at=st.integers(0, 3000), cut=st.integers(0, 40), more=st.text(max_size=6))
def test_a_text_with_a_hole_and_a_patch(text, at, cut, more):
    try_to(read, f"{text[:at]}{more}{text[at + cut :]}\n\n")


@QUICK
@given(key=st.text(max_size=20), value=st.text(max_size=20))
@example(key="cluster.host", value="{base: hgx-h100, base: x}")
@example(key="cluster", value="null")
@example(key="cluster.hosts.a.b", value="1")
@example(key="failures.causes", value="[{kind: weibull, mtbf: 1h, shape: 0}]")
def test_any_override(key, value):
    try_to(read, TEXTS[0], overrides=[f"{key}={value}"])


@QUICK
@given(path=st.sampled_from([".".join(map(str, path)) for path in keys(ECHOES[0]) if path]), value=SCALARS)
def test_any_value_on_a_known_key(path, value):
    try_to(read, TEXTS[0], overrides=[f"{path}={value}"])


@QUICK
@given(data=DATA)
def test_any_data(data):
    try_to(from_dict, data if isinstance(data, dict) else {"model": data})


@QUICK
@given(data=DATA)
def test_any_yaml(data):
    try_to(read, yaml.safe_dump(data, allow_unicode=True) + "\n\n")
