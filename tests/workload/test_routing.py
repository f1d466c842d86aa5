"""On how many ranks and hosts a token's experts are: closed forms, limits, and routing drawn at random."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.workload.routing import Routing


@st.composite
def routings(draw: st.DrawFn) -> Routing:
    groups = draw(st.sampled_from((1, 2, 3, 4, 8)))
    size, limit = draw(st.integers(1, 12)), draw(st.integers(1, groups))
    return Routing(groups * size, draw(st.integers(1, limit * size)), groups, limit)


@given(routings(), st.integers(1, 100))
def test_a_token_is_on_no_more_places_than_it_has_experts_and_there_are_places(routing: Routing, size: int) -> None:
    places = routing.places(size)
    assert min(1, routing.active) <= places + 1e-9
    assert places <= min(routing.active, -(-routing.experts // size)) + 1e-9


@given(routings())
def test_places_of_one_expert_are_the_experts_and_one_place_holds_them_all(routing: Routing) -> None:
    assert routing.places(1) == pytest.approx(routing.active)
    assert routing.places(routing.experts) == pytest.approx(1)


@given(routings(), st.integers(1, 100))
def test_a_limit_of_all_groups_is_none(routing: Routing, size: int) -> None:
    whole = routing._replace(limit=routing.groups)
    assert whole.places(size) == pytest.approx(whole._replace(groups=1, limit=1).places(size))


@given(routings(), st.integers(1, 100))
def test_fewer_groups_never_reach_more_places(routing: Routing, size: int) -> None:
    if routing.limit < routing.groups:
        assert routing.places(size) <= routing._replace(limit=routing.limit + 1).places(size) + 1e-9


@given(routings(), st.integers(1, 20), st.integers(1, 5))
def test_larger_places_are_fewer(routing: Routing, size: int, times: int) -> None:
    assert routing.places(size * times) <= routing.places(size) + 1e-9


def test_hosts_of_a_token_are_at_most_its_groups() -> None:
    assert Routing(256, 8, 8, 4).places(32) == pytest.approx(4 * (1 - comb(96, 8) / comb(128, 8)))
    assert Routing(256, 8, 8, 1).places(32) == pytest.approx(1)
    assert Routing(256, 8).places(32) == pytest.approx(8 * (1 - comb(224, 8) / comb(256, 8)))


@pytest.mark.parametrize("size", [4, 5, 8, 16, 20, 32])
@pytest.mark.parametrize("routing", [Routing(64, 6), Routing(64, 6, 8, 3), Routing(64, 4, 4, 1)])
def test_routing_drawn_at_random_reaches_as_many_places(routing: Routing, size: int) -> None:
    draw, group = np.random.default_rng(7), routing.experts // routing.groups
    found = []
    for _ in range(4000):
        chosen = draw.choice(routing.groups, routing.limit, replace=False)
        among = (chosen[:, None] * group + np.arange(group)).ravel()
        found.append(len(set(draw.choice(among, routing.active, replace=False) // size)))
    assert routing.places(size) == pytest.approx(np.mean(found), rel=0.02)
