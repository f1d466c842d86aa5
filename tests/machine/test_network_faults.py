"""Sick fabrics: what a fault leaves of the worst channel."""

import numpy as np
import pytest

from simulator.errors import ForetrainError, InfeasibleError, ScenarioError
from simulator.machine.fault import Fault
from simulator.machine.hardware import host
from simulator.machine.network import Network
from simulator.machine.placement import Placement
from simulator.machine.traffic import Flows
from topologies.dragonfly import Dragonfly
from topologies.edge_list import EdgeList
from topologies.fat_tree import FatTree
from topologies.rail_optimized import RailOptimized
from topologies.single_switch import SingleSwitch
from topologies.torus import Torus

H100 = host("dgx-h100")
NIC = 50e9
TREE = FatTree(levels=2, hosts_per_leaf=4)
"""Eight leaves of four hosts, four spines: every host of a leaf crosses it at stride 32."""
SPINES = 4


def rate(fault, topology=TREE, hosts=32):
    return Network(H100, hosts, topology, faults=[fault]).channel(8, 32).scale_out_bandwidth / NIC


@pytest.mark.parametrize(
    "fault",
    [
        Fault(nic="3/2", bandwidth=0.5),
        Fault(host=3, bandwidth=0.5),
        Fault(leaf=1, bandwidth=0.5),
        Fault(link=("host/3", "leaf/0"), bandwidth=0.5),
    ],
)
def test_half_a_nic_host_or_leaf_halves_the_worst_channel(fault):
    assert rate(fault) == pytest.approx(0.5)


def test_a_slow_spine_costs_its_share_under_adaptive_and_sets_the_pace_under_static_routing():
    assert rate(Fault(spine=1, bandwidth=0.5)) == pytest.approx((SPINES - 0.5) / SPINES)
    static = FatTree(levels=2, hosts_per_leaf=4, routing="static")
    healthy = Network(H100, 32, static).channel(8, 32).scale_out_bandwidth / NIC
    assert rate(Fault(spine=1, bandwidth=0.5), static) == pytest.approx(healthy * 0.5)


def test_a_dead_spine_or_uplink_is_routed_around():
    assert rate(Fault(spine=0, bandwidth=0)) == pytest.approx((SPINES - 1) / SPINES)
    assert rate(Fault(link=("leaf/1", "spine/0"), bandwidth=0)) == pytest.approx((SPINES - 1) / SPINES)


def test_a_dead_rail_leaves_the_others():
    assert rate(Fault(leaf=2, bandwidth=0), RailOptimized()) == pytest.approx(7 / 8)
    assert rate(Fault(nic="0/0", bandwidth=0)) == pytest.approx(7 / 8)


@pytest.mark.parametrize("fault", [Fault(leaf=0, bandwidth=0), Fault(host=0, bandwidth=0)])
def test_a_dead_leaf_or_host_cuts_hosts_off(fault):
    with pytest.raises(InfeasibleError, match="cuts hosts off"):
        rate(fault)


def test_a_dead_leaf_halves_what_is_homed_on_two_planes():
    assert rate(Fault(leaf=0, bandwidth=0), FatTree(levels=2, hosts_per_leaf=4, planes=2)) == pytest.approx(0.5)


def test_a_pods_spine_slows_its_pod_alone():
    """Without one of its spines a leaf of the first pod has so much less upwards; one of the second pod has all."""
    meta = FatTree(levels=3, hosts_per_leaf=2, hosts_per_pod=8, oversubscription=(1, 2))
    graph = Network(H100, 32, meta, faults=[Fault(spine=0, bandwidth=0)]).fabric.graph
    first, second = (
        sum(edge["bandwidth"] for other, edge in graph["leaf", leaf].items() if other[0] == "spine") for leaf in (0, 4)
    )
    spines = sum(graph.nodes[other]["copies"] for other in graph["leaf", 4] if other[0] == "spine")
    assert second == pytest.approx(2 * 8 * NIC)
    assert first == pytest.approx(second * (spines - 1) / spines)


def test_a_dead_link_moves_the_traffic_of_both_its_ends():
    """Without its cable to one of four spines leaf 1 has three quarters, and nobody sends it anything over that."""
    network = Network(H100, 32, TREE, faults=[Fault(link=("leaf/1", "spine/0"), bandwidth=0)])
    graph = network.fabric.graph
    assert not graph.has_edge(("leaf", 1), ("spine", 0))
    assert network.channel(8, 32).scale_out_bandwidth == pytest.approx(0.75 * NIC)


def test_a_weak_leaf_in_one_of_two_planes_costs_its_share():
    assert rate(Fault(leaf=0, bandwidth=0.5), FatTree(levels=2, hosts_per_leaf=4, planes=2)) == pytest.approx(0.75)


def test_a_slow_host_slows_compute_and_not_the_network():
    network = Network(H100, 32, TREE, faults=[Fault(host=3, slow=1.025)])
    assert network.slow == 1.025
    assert network.channel(8, 32).scale_out_bandwidth == NIC


CABLES = "source,target,bandwidth\n" + "\n".join(
    [f"nic/{host}/{nic},leaf/{host // 2},50e9" for host in range(4) for nic in range(8)]
    + [f"leaf/{leaf},spine/{spine},200e9" for leaf in range(2) for spine in range(2)]
)
"""Four hosts on two leaves, each with four cables' bandwidth to two spines."""


def listed(*faults):
    return Network(H100, 4, EdgeList(edges=CABLES), faults=faults).channel(2, 16).scale_out_bandwidth


@pytest.mark.parametrize(
    "fault",
    [Fault(link=("leaf/0", "spine/1"), bandwidth=0.0), Fault(spine=1, bandwidth=0.0)],
)
def test_cables_of_an_edge_list_that_are_dead_are_routed_around(fault):
    assert listed(fault) == pytest.approx(listed() / 2)


@pytest.mark.parametrize(
    "fault",
    [Fault(leaf=0, bandwidth=0.25), Fault(host=1, bandwidth=0.25), Fault(nic="3/2", bandwidth=0.25)],
)
def test_a_sick_node_of_an_edge_list_slows_its_links(fault):
    """A group of one rank a host gets a NIC, or a sixteenth of a leaf's uplinks, 25 GB/s, whichever is less."""
    assert listed() == pytest.approx(25e9)
    sick = {"leaf": 0.25 * 25e9, "host": 0.25 * 50e9, "nic": 0.25 * 50e9}
    name = next(name for name in sick if getattr(fault, name) is not None)
    assert listed(fault) == pytest.approx(sick[name])


def test_a_host_of_an_edge_list_sends_through_its_other_nics_where_one_is_dead():
    assert listed(Fault(nic="3/0", bandwidth=0.0)) == pytest.approx(25e9)


@pytest.mark.parametrize(
    "fault, message",
    [
        (Fault(leaf=0, bandwidth=0.0), "cuts hosts off"),
        (
            Fault(leaf=9, bandwidth=0.0),
            "there is no leaf/9; there are nic/0/0 to nic/3/7, leaf/0 to leaf/1, spine/0 to",
        ),
        (Fault(spine=9, bandwidth=0.5), "there is no spine/9"),
        (Fault(link=("leaf/0", "leaf/1"), bandwidth=0.0), "no cable joins these two"),
        (Fault(link=("leaf/0", "leaf/1"), bandwidth=0.5), "no cable joins these two"),
    ],
)
def test_a_fault_of_an_edge_list_needs_its_place_and_a_way_around(fault, message):
    with pytest.raises(ForetrainError, match=message):
        listed(fault)


FLY = Dragonfly(hosts_per_router=1, routers_per_group=2, global_links=1)


def test_a_link_of_a_fabric_without_tiers_can_be_sick():
    healthy = Network(H100, 4, FLY).channel(4, 8).scale_out_bandwidth
    sick = Network(H100, 4, FLY, faults=[Fault(link=("router/0", "router/1"), bandwidth=0.5)])
    assert sick.channel(4, 8).scale_out_bandwidth == pytest.approx(healthy / 2)


@pytest.mark.parametrize(
    "topology, hosts, link, switches",
    [
        (Torus(dimensions=(5,)), 5, ("router/0", "router/1"), (2, 5)),
        (Dragonfly(hosts_per_router=1, routers_per_group=3, global_links=1), 12, ("router/0", "router/1"), (2, 3)),
        (FLY, 6, ("router/0", "router/3"), (2, 6)),
    ],
)
def test_a_dead_link_is_routed_around_on_any_fabric(topology, hosts, link, switches):
    """The other way round a ring of five; by the third router of a group; by a third group, of two routers each."""
    flow = Flows(np.array([0]), np.array([int(link[1][-1])]), np.ones(1))
    for faults, crossed in zip(((), [Fault(link=link, bandwidth=0)]), switches, strict=True):
        assert Network(H100, hosts, topology, faults=faults).fabric.latency(flow) == pytest.approx(crossed * 0.6e-6)


def test_a_switch_of_any_name_can_be_sick():
    weak = Network(H100, 4, FLY, faults=[Fault(switch="router/1", bandwidth=0.25)])
    assert weak.channel(4, 8).scale_out_bandwidth == pytest.approx(
        Network(H100, 4, FLY).channel(4, 8).scale_out_bandwidth / 4
    )


def test_hosts_that_no_edges_join_are_named():
    edges = "source,target\nnic/0/0,leaf/0\nnic/1/0,leaf/1"
    with pytest.raises(ScenarioError, match="no cables lead from host 0 to host 1"):
        Network(H100, 2, EdgeList(edges=edges))


def test_a_dead_host_that_the_job_does_not_use_cuts_nobody_off():
    placed = Placement(hosts=(0, 1, 3))
    network = Network(H100, 3, TREE, placed, [Fault(host=2, bandwidth=0)])
    assert network.channel(3, 8).scale_out_bandwidth == NIC


@pytest.mark.parametrize(
    "fault, message",
    [
        (Fault(nic="99/0", bandwidth=0.5), "there is no nic/99/0; there are nic/0/0 to nic/31/7"),
        (Fault(nic="first/0", bandwidth=0.5), "there is no nic/first/0"),
        (Fault(nic="0/8", bandwidth=0.5), "there is no nic/0/8"),
        (Fault(spine=4096, bandwidth=0.5), "there is no spine/4096"),
        (
            Fault(leaf=64, bandwidth=0.5),
            "there is no leaf/64; there are nic/0/0 to nic/31/7, leaf/0 to leaf/7, spine/0 to spine/3",
        ),
        (Fault(link=("leaf/0", "leaf/1"), bandwidth=0.5), "no cable joins these two"),
    ],
)
def test_a_fault_at_no_place_is_refused(fault, message):
    with pytest.raises(ScenarioError, match=message):
        rate(fault)


def test_a_spine_fault_where_there_are_no_spines_is_refused():
    with pytest.raises(ScenarioError, match="there is no spine/0; there are nic/0/0 to nic/31/7, leaf/0 to leaf/0"):
        rate(Fault(spine=0, bandwidth=0.5), SingleSwitch())
