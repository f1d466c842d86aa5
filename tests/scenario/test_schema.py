"""The JSON Schema is current, and accepts what the reader accepts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from simulator import shipped
from simulator.scenario import json_schema, read
from simulator.scenario.reference import page

COMMITTED = Path(__file__).parents[2] / "docs/reference/scenario.schema.json"
SHIPPED = sorted(shipped.folder().rglob("*.yaml"))
SCHEMA = json_schema()


def accepts(schema: dict[str, Any], data: Any) -> bool:
    """Return whether `data` is valid under the few keywords that the schema uses."""
    if "$ref" in schema:
        return accepts(SCHEMA["$defs"][schema["$ref"].rpartition("/")[2]], data)
    if "anyOf" in schema and not any(accepts(form, data) for form in schema["anyOf"]):
        return False
    if "enum" in schema and data not in schema["enum"]:
        return False
    if "const" in schema and data != schema["const"]:
        return False
    kinds = {"object": dict, "array": list, "string": str, "boolean": bool, "integer": int, "number": (int, float)}
    wanted = schema.get("type", [])
    names = [wanted] if isinstance(wanted, str) else wanted
    if names and not any(isinstance(data, kinds[name]) for name in names):
        return False
    if isinstance(data, dict) and "properties" in schema:
        known = schema["properties"]
        return (
            all(key in known and accepts(known[key], value) for key, value in data.items())
            and set(schema.get("required", ())) <= data.keys()
        )
    if isinstance(data, dict) and isinstance(schema.get("additionalProperties"), dict):
        return all(accepts(schema["additionalProperties"], value) for value in data.values())
    if isinstance(data, list):
        return all(accepts(schema.get("items", {}), item) for item in data)
    return True


def test_the_reference_page_is_current():
    assert COMMITTED.with_name("scenario.md").read_text() == page(), "write simulator.scenario.reference.page() to it"


def test_the_committed_schema_is_current():
    assert json.loads(COMMITTED.read_text()) == SCHEMA, "run `foretrain schema > docs/reference/scenario.schema.json`"


@pytest.mark.parametrize("file", SHIPPED, ids=lambda file: file.stem)
def test_a_shipped_scenario_is_valid(file):
    assert accepts(SCHEMA, yaml.safe_load(file.read_text()))


@pytest.mark.parametrize("file", SHIPPED, ids=lambda file: file.stem)
def test_an_echo_is_valid_but_for_what_it_takes_away(file):
    def without_none(data):
        if isinstance(data, dict):
            return {key: without_none(value) for key, value in data.items() if value is not None}
        return data

    assert accepts(SCHEMA, without_none(read(file).resolved))


@pytest.mark.parametrize(
    "change",
    [
        {"clustr": {}},
        {"cluster": {"host": "hgx-h100", "hosts": [4]}},
        {"parallelism": {"schedule": "1f1"}},
        {"parallelism": {"schedule": {"kind": "1f1b", "chunks": 2}}},
        {"model": {"base": "llama-3.1-8b", "layer": 2}},
    ],
)
def test_what_is_wrong_is_not_valid(minimal, change):
    assert accepts(SCHEMA, minimal)
    assert not accepts(SCHEMA, minimal | change)


def test_keys_are_described():
    assert "docstring" not in json.dumps(SCHEMA)
    described = SCHEMA["$defs"]["ClusterSection"]["properties"]
    assert described["spares"]["description"].startswith("Rented and idle")


def test_every_reference_leads_somewhere():
    references = {part.split('"')[0] for part in json.dumps(SCHEMA).split('"#/$defs/')[1:]}
    assert references == set(SCHEMA["$defs"])


def test_every_key_says_what_it_means() -> None:
    assert [row for row in page().splitlines() if row.endswith("|  |")] == []
