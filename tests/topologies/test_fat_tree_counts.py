"""Fat-trees and rails against closed forms and published counts."""

import networkx as nx
import pytest

from topologies.fat_tree import FatTree
from topologies.measures import bisection, cables, switches
from topologies.rail_only import RailOnly
from topologies.rail_optimized import RailOptimized

META = FatTree(levels=3, hosts_per_leaf=2, hosts_per_pod=384, oversubscription=(1, 7), link_bandwidth=50e9)


def counted(topology, hosts, nics):
    graph = topology.graph(hosts, nics, ())
    return switches(graph), cables(graph)


def ports(graph):
    """Return the cables of the busiest switch of each kind."""
    found = {}
    for node, count in graph.degree(weight="count"):
        if node[0] != "nic":
            found[node[0]] = max(found.get(node[0], 0), count)
    return found


def out_of(graph, kind):
    """Return the bandwidth that each switch of a kind has upwards."""
    below = {"leaf": "nic", "spine": "leaf"}[kind]
    return {
        node: sum(graph.edges[node, other]["bandwidth"] for other in graph[node] if other[0] != below)
        for node in graph
        if node[0] == kind
    }


@pytest.mark.parametrize("k", [4, 6, 8])
def test_k_ary_fat_tree_has_five_quarters_k_squared_switches(k):
    hosts = k**3 // 4
    graph = FatTree(radix=k, levels=3).graph(hosts, 1)
    assert sum(switches(graph).values()) == 5 * k**2 // 4
    assert switches(graph)["core"] == k**2 // 4
    assert sum(cables(graph).values()) == 3 * k**3 // 4
    assert set(ports(graph).values()) == {k}


@pytest.mark.parametrize("k", [4, 6])
def test_k_ary_fat_tree_has_diameter_six(k):
    assert nx.diameter(FatTree(radix=k, levels=3).graph(k**3 // 4, 1)) == 6


@pytest.mark.parametrize("radix, most", [(64, 2048), (128, 8192), (144, 10368)])
def test_leaf_spine_without_oversubscription_holds_half_the_radix_squared(radix, most):
    assert set(counted(FatTree(radix=radix), most, 1)[0]) == {"leaf", "spine"}
    assert set(counted(FatTree(radix=radix), most + 1, 1)[0]) == {"leaf", "spine", "core"}


@pytest.mark.parametrize(
    "hosts, leaves, spines, to_leaf, to_spine",
    [
        (31, 8, 4, 252, 256),
        (63, 16, 8, 508, 512),
        (95, 24, 16, 764, 768),
        (127, 32, 16, 1020, 1024),
    ],
)
def test_dgx_h100_superpod_counts_are_nvidias(hosts, leaves, spines, to_leaf, to_spine):
    # NVIDIA DGX SuperPOD H100 reference architecture, network fabrics, Table 4: one host's slot holds the fabric
    # manager, with four of its cables counted.
    assert counted(RailOptimized(), hosts, 8) == (
        {"leaf": leaves, "spine": spines},
        {"nic": to_leaf - 4, "leaf": to_spine},
    )


@pytest.mark.parametrize("hosts, leaves, spines", [(64, 16, 8), (128, 32, 16), (256, 64, 32)])
def test_dgx_b200_superpod_counts_are_nvidias(hosts, leaves, spines):
    # NVIDIA DGX SuperPOD B200 reference architecture: two tiers up to 2,048 GPUs, three above.
    found = counted(RailOptimized(), hosts, 8)
    assert found == ({"leaf": leaves, "spine": spines}, {"nic": hosts * 8, "leaf": hosts * 8})
    assert "core" in counted(RailOptimized(), 257, 8)[0]


def test_metas_24k_gpus_have_1536_leaves_in_eight_pods():
    # arXiv 2407.21783, section 3.3.1: 2 hosts a rack, 192 racks a pod, 8 pods, 1:7 above.
    graph = META.graph(3072, 8, ())
    assert switches(graph)["leaf"] == 1536
    assert set(out_of(graph, "leaf").values()) == {2 * 8 * 50e9}
    assert list(out_of(graph, "spine").values()) == pytest.approx(8 * [3072 * 50e9 / 7])


def test_a_pod_that_is_not_filled_keeps_its_uplinks():
    assert list(out_of(META.graph(500, 8, ()), "spine").values()) == pytest.approx(2 * [3072 * 50e9 / 7])


def test_spectrum_x_template_of_simai_has_64_leaves_and_one_link_to_each_of_64_spines():
    found, joined = counted(RailOptimized(radix=128, hosts_per_unit=64, spines=64), 512, 8)
    assert found == {"leaf": 64, "spine": 64}
    assert joined["leaf"] == 64 * 64


def test_equal_rails_are_one_switch_apart_and_others_three():
    graph = RailOptimized().graph(4, 8)
    assert nx.shortest_path_length(graph, ("nic", 0, 3), ("nic", 1, 3)) == 2
    assert nx.shortest_path_length(graph, ("nic", 0, 3), ("nic", 1, 4)) == 4


def test_rails_of_a_rail_only_fabric_are_never_joined():
    assert nx.number_connected_components(RailOnly().graph(4, 8)) == 8
    assert nx.number_connected_components(RailOnly(radix=4).graph(8, 2)) == 2


@pytest.mark.parametrize("ratio", [1, 2, 4, 7])
def test_oversubscription_divides_the_bisection(ratio):
    tree = FatTree(levels=2, hosts_per_leaf=4, oversubscription=ratio, link_bandwidth=50e9)
    assert bisection(tree.graph(16, 8)) == pytest.approx(16 * 8 * 50e9 / 2 / ratio)


def test_a_half_that_ends_inside_a_leaf_sends_within_it_too():
    """Three leaves of four hosts, 1:7 above: two hosts of the middle leaf reach its other two without its uplinks."""
    graph = FatTree(levels=2, hosts_per_leaf=4, oversubscription=7, link_bandwidth=1.0).graph(12, 8)
    assert bisection(graph) == pytest.approx(2 * 8 + 4 * 8 / 7)


def test_the_smallest_fabric_that_does_not_block_is_built_when_nothing_is_given():
    assert [len(counted(FatTree(), hosts, 8)[0]) for hosts in (1, 8, 9, 256, 257, 16384)] == [1, 1, 2, 2, 3, 3]


@pytest.mark.parametrize("make", [FatTree, RailOptimized])
def test_two_planes_are_two_fabrics_of_half_the_rate(make):
    one, two = (make(link_bandwidth=50e9, planes=planes) for planes in (1, 2))
    assert {tier: 2 * count for tier, count in counted(one, 64, 8)[0].items()} == counted(two, 64, 8)[0]
    uplinks = [sum(out_of(fabric.graph(64, 8), "leaf").values()) for fabric in (one, two)]
    assert uplinks[0] == pytest.approx(uplinks[1])
    graph = two.graph(16, 8)
    assert [graph.edges[edge]["bandwidth"] for edge in graph.edges(("nic", 0, 0))] == [25e9, 25e9]
    without_ends = graph.subgraph(node for node in graph if node[0] != "nic")
    assert nx.number_connected_components(without_ends) == 2


def test_faster_uplinks_need_fewer_cables_for_the_same_bandwidth():
    slow, fast = (RailOptimized(uplink_rate=rate, link_bandwidth=50e9) for rate in (1, 2))
    assert counted(fast, 64, 8)[1]["leaf"] * 2 == counted(slow, 64, 8)[1]["leaf"]
    assert out_of(fast.graph(64, 8), "leaf") == pytest.approx(out_of(slow.graph(64, 8), "leaf"))
