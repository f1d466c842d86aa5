"""Who talks to whom, by hand."""

import numpy as np
import pytest

from simulator.machine import traffic


def groups(size, stride, *, gpus=64, gpus_per_host=8, hosts_per_domain=1, order=None):
    first = traffic.starts(size, stride, gpus)
    order = np.arange(gpus // gpus_per_host) if order is None else np.array(order)
    return traffic.groups(
        first, size, stride, gpus=gpus, gpus_per_host=gpus_per_host, hosts_per_domain=hosts_per_domain, order=order
    )


def pairs(flows):
    found = {}
    for source, target, amount in zip(*flows, strict=True):
        found[int(source), int(target)] = found.get((int(source), int(target)), 0.0) + float(amount)
    return found


def test_one_group_stands_for_those_on_the_same_hosts():
    """Eight data groups of one GPU a host, over four hosts, in two blocks."""
    found = groups(4, 8)
    assert found.host.tolist() == list(range(8))
    assert found.group.tolist() == [0] * 4 + [1] * 4
    assert found.counts.tolist() == [8, 8]
    assert found.widest == (4, 4, 1)


def test_a_ring_goes_around_and_sends_as_much_from_each_host():
    assert pairs(groups(16, 1, gpus=16).ring()) == {(0, 1): 1.0, (1, 0): 1.0}
    assert pairs(groups(4, 8, gpus=32).ring()) == {(0, 1): 8.0, (1, 2): 8.0, (2, 3): 8.0, (3, 0): 8.0}


def test_sends_go_on_once_and_do_not_go_around():
    found = groups(2, 8, gpus=16)
    assert pairs(found.sends()) == {(0, 1): 8.0}
    assert pairs(found.sends(back=True)) == {(1, 0): 8.0}


def test_an_exchange_sends_each_rank_its_part():
    """Of 24 ranks on three hosts, each sends a 24th to each of the eight on another host."""
    found = {}
    for flows in groups(24, 1, gpus=24).exchange():
        for pair, amount in pairs(flows).items():
            found[pair] = found.get(pair, 0.0) + amount
    assert found == pytest.approx({(a, b): 8 * 8 / 24 for a in range(3) for b in range(3) if a != b})


def test_a_large_exchange_is_sampled_and_sends_as_much():
    sent = sum(flows.amount.sum() for flows in groups(200, 8, gpus=1600).exchange())
    assert sent == pytest.approx(8 * 200 * 199 / 200)


def test_hosts_of_one_domain_send_to_those_of_the_next_in_order():
    found = groups(32, 1, gpus=32, gpus_per_host=8, hosts_per_domain=2)
    assert found.widest == (2, 32, 16)
    assert pairs(found.ring()) == {(0, 2): 0.5, (1, 3): 0.5, (2, 0): 0.5, (3, 1): 0.5}


def test_a_domain_of_more_ranks_spreads_over_all_of_a_smaller_one():
    """Three hosts of eight in domains of two: sixteen ranks send to eight, from both hosts alike."""
    found = groups(24, 1, gpus=24, hosts_per_domain=2)
    assert pairs(found.ring()) == {(0, 2): 0.5, (1, 2): 0.5, (2, 0): 0.5, (2, 1): 0.5}


def test_ranks_of_a_domain_that_is_met_twice_are_one_part():
    """In the order 0, 2, 1, 3 of domains {0, 1} and {2, 3} a ring goes around each domain before the next."""
    found = groups(32, 1, gpus=32, hosts_per_domain=2, order=[0, 2, 1, 3])
    assert found.host.tolist() == [0, 1, 2, 3]
    assert found.widest == (2, 32, 16)


def test_a_group_that_the_ranks_do_not_fill_has_those_that_are_there():
    found = groups(16, 1, gpus=24)
    assert found.sizes.tolist() == [16, 8]


def test_uneven_groups_are_taken_rank_by_rank():
    """Six ranks on hosts of eight: the second group has two on the first host and four on the second."""
    found = groups(6, 1, gpus=24)
    assert found.host.tolist() == [0, 0, 1, 1, 2, 2]
    assert found.ranks.tolist() == [6, 2, 4, 4, 2, 6]
