"""The `model` section as formats see it."""

import dataclasses

import pytest

from simulator.convert.shape import ATTENTION_DEFAULTS, DEFAULTS, EXPERT_DEFAULTS, complete, short
from simulator.convert.values import plain
from simulator.workload.blocks.attention import Full, Window
from simulator.workload.blocks.latent import Latent
from simulator.workload.model import Experts, Model

TINY = {"layers": 2, "hidden": 64, "heads": 4, "vocabulary": 100}


def defaults(kind):
    return {field.name: field.default for field in dataclasses.fields(kind)}


@pytest.mark.parametrize(
    ("kind", "ours"),
    [
        (Model, {key: value for key, value in DEFAULTS.items() if key != "attention"}),
        (Experts, EXPERT_DEFAULTS),
        (Full, ATTENTION_DEFAULTS["full"]),
        (Window, ATTENTION_DEFAULTS["window"]),
        (Latent, ATTENTION_DEFAULTS["mla"]),
    ],
)
def test_defaults_are_those_of_the_model(kind, ours):
    """Formats import nothing of the simulator, so they keep a copy of the defaults."""
    assert {key: defaults(kind)[key] for key in ours} == ours


def test_every_field_of_a_model_has_its_place():
    derived = {"layers", "hidden", "heads", "vocabulary", "kv_heads", "head_size", "ffn"}
    assert defaults(Model).keys() == DEFAULTS.keys() | derived


def test_short_and_complete_are_inverse():
    moe = {**TINY, "experts": {"count": 4, "active": 1, "ffn": 8, "every": 2}, "attention": {"window": 16}}
    assert complete(short(complete(moe))) == complete(moe)
    assert short(complete(moe))["experts"] == moe["experts"]


def test_where_a_model_comes_from_is_no_part_of_its_shape():
    assert complete({**TINY, "base": "gpt-2", "source": "a paper"}) == complete(TINY)


@pytest.mark.parametrize("key", ["layers", "hidden", "heads", "vocabulary"])
@pytest.mark.parametrize("value", [None, 0, -1, "many", 10**18])
def test_a_shape_needs_its_four_numbers(key, value):
    with pytest.raises(ValueError, match=f"{key}: expected a whole number"):
        complete({**TINY, key: value})


def test_an_unknown_attention_is_refused():
    with pytest.raises(ValueError, match="'linear' is not known"):
        complete({**TINY, "attention": {"kind": "linear"}})


@pytest.mark.parametrize(
    ("text", "value"),
    [("2048", 2048), ("15.6T", 15_600_000_000_000), ("4M", 4_000_000), ("1_000", 1000), ("8%", 0.08), ("0.1", 0.1)],
)
def test_text_that_spells_a_number_is_the_number(text, value):
    assert plain(text) == value


@pytest.mark.parametrize("text", ["", "1:7", "gelu", "1e18", "-3", "30min", "400Gbps", "9" * 99])
def test_other_text_stays_text(text):
    assert plain(text) == text
