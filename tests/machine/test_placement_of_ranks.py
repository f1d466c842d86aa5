"""Where ranks sit."""

import pytest

from simulator.machine.placement import Placement, locate


def test_ranks_fill_one_host_after_the_other():
    order = Placement().order(4)
    assert [locate(rank, 8, order) for rank in (0, 7, 8, 31)] == [(0, 0), (0, 7), (1, 0), (3, 7)]


def test_scattered_hosts_are_all_hosts_in_another_order_and_the_same_every_time():
    order = Placement(kind="scattered").order(64)
    assert sorted(order) == list(range(64))
    assert order != tuple(range(64))
    assert order == Placement(kind="scattered").order(64)


def test_listed_hosts_make_the_fabric_as_large_as_the_last_of_them():
    placement = Placement(hosts=(0, 9, 4))
    assert placement.order(3) == (0, 9, 4)
    assert placement.fabric_hosts(3) == 10


@pytest.mark.parametrize("hosts", [(0, 1), (0, 1, 1), (0, 1, -1)])
def test_a_list_that_does_not_fit_is_refused(hosts):
    with pytest.raises(ValueError, match="placement lists"):
        Placement(hosts=hosts).order(3)
