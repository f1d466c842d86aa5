"""Transfers in simpy share links fairly, solved again whenever one starts or ends."""

from __future__ import annotations

import itertools
from typing import NamedTuple

import pytest
import simpy
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.engine.step.links import Links


class Flow(NamedTuple):
    seconds: float
    load: float = 1.0


Sent = tuple[float, Flow, tuple[str, ...]]
"""When a transfer starts, what it is, and the links that it crosses."""


def ends(*sent: Sent) -> tuple[list[float], Links]:
    """Return when each transfer ends."""
    env = simpy.Environment()
    shared, found = Links(env), [0.0] * len(sent)

    def one(number: int, start: float, transfer: Flow, links: tuple[str, ...]):
        yield env.timeout(start)
        yield shared.send(transfer.seconds, dict.fromkeys(links, transfer.load))
        found[number] = env.now

    for number, (start, transfer, links) in enumerate(sent):
        env.process(one(number, start, transfer, links))
    env.run()
    return found, shared


@pytest.mark.parametrize("n", [1, 2, 7])
def test_n_transfers_on_one_link_each_get_an_nth(n):
    found, _ = ends(*[(0.0, Flow(1.0), ("a",))] * n)
    assert found == pytest.approx([float(n)] * n)


def test_shares_are_solved_again_at_every_start_and_end():
    """A alone for 1 s, both at half speed until A ends at 3 s, then B alone: 1 + 1 of A's 2 s, 1 + 1 of B's 2 s."""
    found, _ = ends((0.0, Flow(2.0), ("a",)), (1.0, Flow(2.0), ("a",)))
    assert found == pytest.approx([3.0, 4.0])


def test_a_transfer_that_fills_a_third_of_a_link_leaves_two_thirds():
    found, _ = ends((0.0, Flow(1.0, 1 / 3), ("a",)), (0.0, Flow(1.0, 2 / 3), ("a",)))
    assert found == pytest.approx([1.0, 1.0])


def test_a_bottleneck_elsewhere_frees_capacity_here():
    """Three share link b, so that the one that also crosses a gets a third; the other on a has two thirds of it."""
    found, _ = ends(
        (0.0, Flow(1.0), ("a",)), (0.0, Flow(9.0), ("a", "b")), (0.0, Flow(9.0), ("b",)), (0.0, Flow(9.0), ("b",))
    )
    assert found[0] == pytest.approx(1.5)


def test_what_stays_inside_a_host_waits_for_nobody():
    found, _ = ends((0.0, Flow(1.0), ()), (0.0, Flow(1.0), ("a",)))
    assert found == pytest.approx([1.0, 1.0])


LINKS = st.lists(st.sampled_from("abcd"), min_size=1, max_size=3, unique=True).map(tuple)
SENT = st.lists(
    st.tuples(st.floats(0.0, 5.0), st.builds(Flow, st.floats(0.1, 3.0), st.floats(0.1, 1.0)), LINKS),
    min_size=1,
    max_size=8,
)


@settings(max_examples=80, deadline=None)
@given(SENT)
def test_no_link_carries_more_than_its_rate_over_any_time(sent: list[Sent]):
    """What starts and ends within a stretch of time was carried in it: on each link no more than its length."""
    found, _ = ends(*sent)
    moments = sorted({start for start, _, _ in sent} | set(found))
    for begin, end in itertools.combinations(moments, 2):
        for link in "abcd":
            inside = [
                transfer.load * transfer.seconds
                for (start, transfer, links), done in zip(sent, found, strict=True)
                if link in links and start >= begin and done <= end
            ]
            assert sum(inside) <= (end - begin) * (1 + 1e-9) + 1e-9


@settings(max_examples=80, deadline=None)
@given(SENT)
def test_nobody_is_faster_than_alone(sent: list[Sent]):
    found, _ = ends(*sent)
    for (start, transfer, _), done in zip(sent, found, strict=True):
        assert done - start >= transfer.seconds * (1 - 1e-9)


@settings(max_examples=80, deadline=None)
@given(SENT, st.floats(1.1, 4.0))
def test_faster_links_end_the_last_transfer_no_later_where_all_start_at_once(sent: list[Sent], factor: float):
    """With links `factor` times as fast every transfer takes as much less, and fills as much of them as before."""
    together = [(0.0, transfer, links) for _, transfer, links in sent]
    faster = [(0.0, Flow(one.seconds / factor, one.load), links) for _, one, links in sent]
    assert max(ends(*faster)[0]) == pytest.approx(max(ends(*together)[0]) / factor)
