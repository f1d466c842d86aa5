"""YAML of other people is data: what is more than that is refused with its place."""

import pytest

from simulator import catalog
from simulator.convert import plain_yaml
from simulator.errors import ScenarioError

BOMB = "a: &a [x, x]\n" + "".join(f"{b}: &{b} [*{a}, *{a}]\n" for a, b in zip("abcdefgh", "bcdefghi", strict=True))


def test_every_scalar_is_text():
    assert plain_yaml.load("a: 1:7\nb: {c: ~}") == {"a": "1:7", "b": {"c": "~"}}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [1", "line 2, column 1: not YAML: did not find expected"),
        (BOMB, r"line 2, column 8: aliases such as `\*a` are not read"),
        ("[" * 100_000, "nested more than 100 deep|exceeded maximum nesting depth"),
        ("- " * 100_000, "line 1, column 201: nested more than 100 deep"),
        ("a: \0", "not text that YAML allows|not YAML"),
        ("a: \udce6", "not UTF-8 text"),
    ],
    ids=["unclosed", "bomb", "deep", "deep list", "zero", "surrogate"],
)
def test_what_is_more_than_data_is_refused(text, message):
    with pytest.raises(ValueError, match=message):
        plain_yaml.load(text)


def test_tags_build_nothing():
    assert plain_yaml.load("a: !!python/object/apply:os.system [id]") == {"a": ["id"]}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"source: me\na: b: c\n", r"odd.yaml:2:5: not YAML: mapping values are not allowed"),
        (BOMB.encode(), r"odd.yaml:2:8: aliases such as `\*a` are not read; write the value out"),
        (b"source: \xff\n", r"odd.yaml:1: not UTF-8 text \(byte 8\)"),
        (b"a: 1\n", "odd.yaml: a catalog entry is a mapping with a `source`"),
    ],
    ids=["colon", "bomb", "bytes", "source"],
)
def test_a_wrong_entry_of_a_catalog_says_where(content, message, tmp_path):
    (tmp_path / "gpu").mkdir()
    (tmp_path / "gpu" / "odd.yaml").write_bytes(content)
    with pytest.raises(ScenarioError, match=message):
        catalog.entry("gpu", "odd", [tmp_path])
