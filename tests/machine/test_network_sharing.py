"""Flows on links: max-min fairness and hash collisions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.machine.hashing import efficiency, share
from simulator.machine.sharing import max_min

LINKS = "abcd"
FLOWS = st.lists(st.sets(st.sampled_from(LINKS), min_size=1), min_size=1, max_size=8)
CAPACITIES = st.fixed_dictionaries({link: st.floats(0.1, 10.0) for link in LINKS})


@pytest.mark.parametrize("n", [1, 2, 7])
def test_n_flows_on_a_link_share_it_equally(n):
    assert max_min(["a"] * n, {"a": 1.0}) == pytest.approx([1 / n] * n)


def test_a_bottleneck_elsewhere_frees_capacity_here():
    assert max_min(["ab", "b"], {"a": 1.0, "b": 10.0}) == pytest.approx([1.0, 9.0])


def test_weights_divide_a_link_in_proportion():
    assert max_min(["a", "a"], {"a": 4.0}, weights=[3.0, 1.0]) == pytest.approx([3.0, 1.0])


def test_a_flow_that_is_split_loads_each_path_with_its_part():
    assert max_min([{"a": 0.5, "b": 0.5}, "b"], {"a": 1.0, "b": 1.5}) == pytest.approx([1.0, 1.0])


def test_a_flow_that_crosses_nothing_has_no_limit():
    assert max_min([""], {}) == [float("inf")]


@given(FLOWS, CAPACITIES)
def test_no_link_carries_more_than_its_rate(flows, capacities):
    rates = max_min(flows, capacities)
    for link, capacity in capacities.items():
        assert sum(rate for rate, flow in zip(rates, flows, strict=True) if link in flow) <= capacity * (1 + 1e-9)


@given(FLOWS, CAPACITIES)
def test_every_flow_is_held_by_a_full_link_on_which_nobody_has_more(flows, capacities):
    rates = max_min(flows, capacities)
    for rate, flow in zip(rates, flows, strict=True):
        assert any(
            sum(r for r, f in zip(rates, flows, strict=True) if link in f) >= capacities[link] * (1 - 1e-9)
            and rate >= max(r for r, f in zip(rates, flows, strict=True) if link in f) * (1 - 1e-9)
            for link in flow
        )


@given(FLOWS, CAPACITIES, st.integers(2, 4))
def test_folded_flows_get_what_unfolded_ones_get(flows, capacities, copies):
    folded = max_min(flows, capacities, counts=[copies] * len(flows))
    assert max_min(flows * copies, capacities)[: len(flows)] == pytest.approx(folded, rel=1e-9)


@given(FLOWS, CAPACITIES, st.floats(1.0, 5.0))
def test_more_capacity_everywhere_never_slows_the_slowest(flows, capacities, factor):
    wider = {link: capacity * factor for link, capacity in capacities.items()}
    assert min(max_min(flows, wider)) >= min(max_min(flows, capacities)) * (1 - 1e-9)


@pytest.mark.parametrize("pairs, found", [(1, 0.28), (2, 0.37), (4, 0.46), (8, 0.56), (16, 0.64), (32, 0.72)])
def test_hashing_32_flows_onto_32_links_agrees_with_monte_carlo(pairs, found):
    assert share(32, 32, pairs) == pytest.approx(found, abs=0.025)


@pytest.mark.parametrize("pairs, found", [(1, 0.37), (2, 0.51), (4, 0.67), (8, 0.85), (16, 1.0)])
def test_twice_as_many_links_as_flows_collide_less(pairs, found):
    assert share(32, 64, pairs) == pytest.approx(found, abs=0.025)


@given(st.integers(1, 64), st.integers(2, 64), st.integers(1, 32))
def test_more_queue_pairs_never_collide_more(flows, links, pairs):
    # To 3%: the number of flows of a Poisson distribution varies, which a few flows on two links show.
    assert share(flows, links, 2 * pairs) >= 0.97 * share(flows, links, pairs)
    assert 0 < efficiency(flows, links, pairs) <= 1 + 1e-9
