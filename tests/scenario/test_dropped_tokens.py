"""A capacity that drops tokens is read as written, with a warning of how many."""

from __future__ import annotations

import pytest

from simulator.scenario import from_dict


@pytest.mark.parametrize(
    ("moe", "share"),
    [({"capacity": "0.75"}, "25%"), ({"capacity": "1", "imbalance": "2"}, "25%"), ({"capacity": "0.1"}, "90%")],
)
def test_what_drops_tokens_says_how_many_and_what_drops_none(minimal, moe, share):
    (said,) = warned(minimal, moe)
    assert f"drops {share} of what tokens send to experts" in said
    assert f"write {moe.get('imbalance', '1')}, the imbalance, or more" in said


@pytest.mark.parametrize("moe", [{}, {"capacity": "1"}, {"capacity": "0.995"}, {"capacity": "2", "imbalance": "2"}])
def test_a_few_dropped_tokens_are_no_warning(minimal, moe):
    assert warned(minimal, moe) == []


def test_a_model_without_experts_drops_nothing(minimal):
    found = from_dict({**minimal, "moe": {"capacity": "0.1"}}).warnings
    assert not any("drops" in text for text in found)


def warned(minimal, moe):
    found = from_dict({**minimal, "model": "mixtral-8x7b", "moe": moe}).warnings
    return [text for text in found if "drops" in text]
