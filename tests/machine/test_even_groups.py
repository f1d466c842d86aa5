"""Groups that divide hosts evenly load the fabric as walking through them one by one does."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.machine import even_groups, routing, traffic
from simulator.machine.even_groups import EvenGroups
from simulator.machine.hardware import host
from simulator.machine.network import Network
from simulator.machine.placement import Placement
from topologies.base import Topology
from topologies.fat_tree import FatTree
from topologies.rail_optimized import RailOptimized

HOST = host("hgx-h100")
FABRICS = st.sampled_from(
    [
        FatTree(levels=2, hosts_per_leaf=4, oversubscription=3.0),
        FatTree(levels=3, hosts_per_leaf=2, hosts_per_pod=8, oversubscription=(1.0, 7.0)),
        RailOptimized(hosts_per_unit=4),
    ]
)
AXES = st.sampled_from([(4, 8), (2, 16), (8, 16), (16, 1), (64, 2), (12, 4), (48, 8), (384, 1), (6, 32)])


def even(network: Network, size: int, stride: int) -> EvenGroups:
    found = even_groups.even_groups(size, stride, gpus=network.gpus, gpus_per_host=8, order=network.order)
    assert found is not None
    return found


@settings(max_examples=60, deadline=None)
@given(FABRICS, AXES, st.sampled_from(["contiguous", "scattered"]))
def test_rings_load_the_same_bundles(fabric: Topology, axis: tuple[int, int], placement: str) -> None:
    network = Network(HOST, 48, fabric, Placement(kind=placement))  # type: ignore[arg-type]
    walked = routing.loads(network.fabric, (f for g in network.groups(*axis) for f in traffic.ring(g)))
    assert even_groups.as_bundles(even_groups.ring_loads(network.fabric, even(network, *axis))) == pytest.approx(walked)


@settings(max_examples=60, deadline=None)
@given(FABRICS, AXES, st.sampled_from(["contiguous", "scattered"]))
def test_exchanges_load_the_same_bundles(fabric: Topology, axis: tuple[int, int], placement: str) -> None:
    network = Network(HOST, 48, fabric, Placement(kind=placement))  # type: ignore[arg-type]
    walked = routing.exchange_loads(network.fabric, network.groups(*axis), 1)
    found = even_groups.as_bundles(even_groups.exchange_loads(network.fabric, even(network, *axis)))
    assert found == pytest.approx(walked)


def test_one_group_stands_for_those_on_the_same_hosts() -> None:
    """Eight data groups of one GPU a host, over four hosts, sixteen hosts apart in two blocks."""
    network = Network(HOST, 8, FatTree())
    found = even(network, 4, 8)
    assert found.members.tolist() == [[0, 1, 2, 3], [4, 5, 6, 7]]
    assert (found.inside, found.count, found.ranks) == (1, 8, 4)
    assert found.first.domains == network.groups(4, 8)[0].domains


@pytest.mark.parametrize("axis", [(8, 1), (4, 2), (12, 2), (6, 3), (3, 16)])
def test_groups_that_do_not_divide_hosts_are_walked_through(axis: tuple[int, int]) -> None:
    """Inside one host, one and a half hosts, uneven strides, and blocks that eight hosts do not hold."""
    found = even_groups.even_groups(*axis, gpus=64, gpus_per_host=8, order=tuple(range(8)))
    assert found is None
