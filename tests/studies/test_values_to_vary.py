"""``--vary`` says which values a key takes, with units, mappings and lists."""

from __future__ import annotations

from math import prod

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.errors import ScenarioError
from simulator.studies.vary import Axis, axis, choices


def test_a_list_keeps_units_and_mappings() -> None:
    assert axis("a.b=[5min, 1h]").values == ("5min", "1h")
    assert axis("a=[{kind: fixed, interval: 5min}, young-daly]").values == (
        "{kind: fixed, interval: 5min}",
        "young-daly",
    )
    assert axis("a=[[1, 7], 4]").values == ("[1, 7]", "4")


def test_a_single_value_is_a_list_of_one() -> None:
    assert axis("a=8").values == ("8",)


def test_values_with_commas_and_no_brackets_are_no_single_value() -> None:
    with pytest.raises(ScenarioError, match=r"^--vary parallelism.tensor: write a list, \[2,4,8\]$"):
        axis("parallelism.tensor=2,4,8")


def test_a_range_is_evenly_spaced_in_its_unit() -> None:
    assert axis("a={from: 1, to: 8, steps: 8}").values == tuple(map(str, range(1, 9)))
    assert axis("a={from: $1, to: $2, steps: 3}").values == ("$1", "$1.5", "$2")


def test_values_of_one_unit_are_numbers() -> None:
    assert axis("a=[5min, 10min]").numbers == (5.0, 10.0)
    assert axis("a=[5min, 1h]").numbers == (300.0, 3600.0)
    assert axis("a=[5min, 1GB]").numbers is None
    assert axis("a=[fixed, young]").numbers is None


@pytest.mark.parametrize(
    "text",
    ["a", "=1", "a=", "a=[]", "a=[1", "a={from: 1s, to: 2min}", "a={from: 1, to: 2, steps: 1}", "a={from: x, to: y}"],
)
def test_what_cannot_be_varied_is_an_error_that_names_the_key(text: str) -> None:
    with pytest.raises(ScenarioError, match="--vary"):
        axis(text)


@given(st.lists(st.integers(1, 4), min_size=1, max_size=4))
def test_points_are_the_product_of_the_values(sizes: list[int]) -> None:
    axes = [Axis(f"k{number}", tuple(map(str, range(size)))) for number, size in enumerate(sizes)]
    found = list(choices(axes))
    assert len(found) == len(set(found)) == prod(sizes)


def test_a_key_is_varied_once() -> None:
    with pytest.raises(ScenarioError, match="twice"):
        list(choices([Axis("a", ("1",)), Axis("a", ("2",))]))


def test_a_study_of_more_than_a_million_points_is_refused() -> None:
    with pytest.raises(ScenarioError, match="points"):
        list(choices([Axis(f"k{number}", tuple(map(str, range(1001)))) for number in range(2)]))
