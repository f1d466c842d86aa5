"""Fat-trees and rails against closed forms and published counts."""

import networkx as nx
import pytest

from topologies.fat_tree import FatTree
from topologies.rail_only import RailOnly
from topologies.rail_optimized import RailOptimized


@pytest.mark.parametrize("k", [4, 6, 8])
def test_k_ary_fat_tree_has_five_quarters_k_squared_switches(k):
    hosts = k**3 // 4
    counts = FatTree(radix=k, levels=3).counts(hosts, 1, 1)
    assert sum(counts.switches.values()) == 5 * k**2 // 4
    assert counts.switches["core"] == k**2 // 4
    assert sum(counts.cables.values()) == 3 * k**3 // 4
    assert set(counts.ports.values()) == {k}


@pytest.mark.parametrize("k", [4, 6])
def test_k_ary_fat_tree_has_diameter_six(k):
    tree, hosts = FatTree(radix=k, levels=3), k**3 // 4
    assert nx.diameter(tree.graph(hosts, 1, 1)) == 6 == tree.counts(hosts, 1, 1).diameter


@pytest.mark.parametrize("radix, most", [(64, 2048), (128, 8192), (144, 10368)])
def test_leaf_spine_without_oversubscription_holds_half_the_radix_squared(radix, most):
    assert FatTree(radix=radix).plan(most, 1).levels == 2
    assert FatTree(radix=radix).plan(most + 1, 1).levels == 3


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
    counts = RailOptimized().counts(hosts, 8, 8)
    assert counts.switches == {"leaf": leaves, "spine": spines}
    assert counts.cables == {"nic-leaf": to_leaf - 4, "leaf-spine": to_spine}


@pytest.mark.parametrize("hosts, leaves, spines", [(64, 16, 8), (128, 32, 16), (256, 64, 32)])
def test_dgx_b200_superpod_counts_are_nvidias(hosts, leaves, spines):
    # NVIDIA DGX SuperPOD B200 reference architecture: two tiers up to 2,048 GPUs, three above.
    counts = RailOptimized().counts(hosts, 8, 8)
    assert counts.switches == {"leaf": leaves, "spine": spines}
    assert counts.cables == {"nic-leaf": hosts * 8, "leaf-spine": hosts * 8}
    assert "core" in RailOptimized().counts(257, 8, 8).switches


def test_metas_24k_gpus_have_1536_leaves_in_eight_pods():
    # arXiv 2407.21783, section 3.3.1: 2 hosts a rack, 192 racks a pod, 8 pods, 1:7 above.
    fabric = FatTree(levels=3, hosts_per_leaf=2, hosts_per_pod=384, oversubscription=(1, 7))
    plan = fabric.plan(3072, 8)
    assert (fabric.counts(3072, 8, 8).switches["leaf"], plan.pods) == (1536, 8)
    leaf, pod = plan.tiers(50e9)[1:]
    assert leaf.bandwidth == 2 * 8 * 50e9
    assert pod.bandwidth == pytest.approx(3072 * 50e9 / 7)


def test_spectrum_x_template_of_simai_has_64_leaves_and_one_link_to_each_of_64_spines():
    counts = RailOptimized(radix=128, hosts_per_unit=64, spines=64).counts(512, 8, 8)
    assert counts.switches == {"leaf": 64, "spine": 64}
    assert counts.cables["leaf-spine"] == 64 * 64


def test_equal_rails_are_one_switch_apart_and_others_three():
    graph = RailOptimized().graph(4, 8, 8)
    assert nx.shortest_path_length(graph, ("nic", 0, 3), ("nic", 1, 3)) == 2
    assert nx.shortest_path_length(graph, ("nic", 0, 3), ("nic", 1, 4)) == 4


def test_rails_of_a_rail_only_fabric_are_never_joined():
    assert nx.number_connected_components(RailOnly().graph(4, 8, 8)) == 8
    assert nx.number_connected_components(RailOnly(radix=4).graph(8, 2, 2)) == 2


@pytest.mark.parametrize("ratio", [1, 2, 4, 7])
def test_oversubscription_divides_the_bisection(ratio):
    tree = FatTree(levels=2, hosts_per_leaf=4, oversubscription=ratio, link_bandwidth=50e9)
    assert tree.bisection_bandwidth(16, 8, 8) == pytest.approx(16 * 8 * 50e9 / 2 / ratio)


def test_the_smallest_fabric_that_does_not_block_is_built_when_nothing_is_given():
    assert [FatTree().plan(hosts, 8).levels for hosts in (1, 8, 9, 256, 257, 16384)] == [1, 1, 2, 2, 3, 3]


@pytest.mark.parametrize("make", [FatTree, RailOptimized])
def test_two_planes_are_two_fabrics_of_half_the_rate(make):
    one, two = make(link_bandwidth=50e9), make(planes=2, link_bandwidth=50e9)
    single, double = (fabric.counts(64, 8, 8) for fabric in (one, two))
    assert {tier: 2 * count for tier, count in single.switches.items()} == double.switches
    assert [tier.bandwidth for tier in one.tiers(64, 8)] == [tier.bandwidth for tier in two.tiers(64, 8)]
    graph = two.graph(16, 8, 8)
    assert [graph.edges[edge]["bandwidth"] for edge in graph.edges(("nic", 0, 0))] == [25e9, 25e9]
    without_ends = graph.subgraph(node for node in graph if node[0] != "nic")
    assert nx.number_connected_components(without_ends) == 2


def test_faster_uplinks_need_fewer_cables_for_the_same_bandwidth():
    slow, fast = RailOptimized(link_bandwidth=50e9), RailOptimized(uplink_rate=2, link_bandwidth=50e9)
    assert fast.counts(64, 8, 8).cables["leaf-spine"] * 2 == slow.counts(64, 8, 8).cables["leaf-spine"]
    assert fast.tiers(64, 8)[1].bandwidth == slow.tiers(64, 8)[1].bandwidth
