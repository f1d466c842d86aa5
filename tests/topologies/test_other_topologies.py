"""Dragonfly, torus, NVLink domain and edge list against their closed forms."""

import math

import networkx as nx
import pytest

from topologies.dragonfly import Dragonfly
from topologies.edge_list import EdgeList
from topologies.measures import bisection, cables
from topologies.nvlink_domain import NvlinkDomain
from topologies.torus import Torus


def test_balanced_dragonfly_of_eight_ends_a_router_has_16512_ends_in_129_groups():
    # Kim et al., ISCA 2008: a = 2p = 2h, at most ah+1 groups, radix p + a - 1 + h.
    graph = Dragonfly(hosts_per_router=8).graph(16512, 1)
    assert len({group for _, group in graph.nodes(data="group") if group is not None}) == 129
    assert graph.degree(("router", 0), weight="count") == 31
    assert cables(graph) == {"nic": 16512, "local": 129 * 16 * 15 // 2, "global": 129 * 128 // 2}


def test_a_full_dragonfly_has_one_link_between_any_two_groups():
    graph = Dragonfly(hosts_per_router=1, routers_per_group=2, global_links=1, link_bandwidth=1.0).graph(6, 1)
    assert cables(graph) == {"nic": 6, "local": 3, "global": 3}
    assert nx.diameter(graph) == 5


def test_too_many_hosts_for_a_dragonfly_is_said_with_the_numbers():
    with pytest.raises(ValueError, match="has 3 groups; this needs 4"):
        Dragonfly(hosts_per_router=1, routers_per_group=2, global_links=1).graph(7, 1)


@pytest.mark.parametrize("sides", [(4, 4), (3, 4, 5), (2, 2, 4), (6,), (1, 5, 1)])
def test_torus_is_the_periodic_grid_of_networkx(sides):
    hosts = math.prod(sides)
    ours = Torus(dimensions=sides, link_bandwidth=1.0).graph(hosts, 1)
    routers = ours.subgraph(node for node in ours if node[0] == "router")
    theirs = nx.Graph(nx.grid_graph(list(sides), periodic=True))
    theirs.remove_edges_from(nx.selfloop_edges(theirs))
    assert nx.is_isomorphic(nx.Graph(routers.edges), theirs)
    assert nx.diameter(ours) == 2 + sum(side // 2 for side in sides)


def test_hosts_of_a_torus_are_numbered_along_its_first_dimension_first():
    """Of 3 x 4 x 5 hosts, host 0 is beside 1 and 2, beside 3 and 9 a row up and down, and 12 and 48."""
    graph = Torus(dimensions=(3, 4, 5)).graph(60, 1)
    assert {node[1] for node in graph["router", 0] if node[0] == "router"} == {1, 2, 3, 9, 12, 48}


def test_wrong_dimensions_of_a_torus_are_said():
    with pytest.raises(ValueError, match="4 x 4 has not 12 hosts"):
        Torus(dimensions=(4, 4)).graph(12, 1)


def test_nvl72_joins_72_gpus_over_18_switches_at_full_bandwidth():
    rack = NvlinkDomain(switches=18, link_bandwidth=900e9)
    graph = rack.graph(18, 4)
    assert graph.degree(("nvswitch", 0)) == 72
    assert sum(graph.edges[edge]["bandwidth"] for edge in graph.edges(("gpu", 3, 2))) == pytest.approx(900e9)


ROWS = """\
source,target,bandwidth,latency,count
nic/0/0,leaf/0,5e10,1e-6,
leaf/0,spine/0,1e11,1e-6,2
nic/1/0,spine/0,,,
"""


def test_an_edge_list_is_read_cable_by_cable():
    graph = EdgeList(edges=ROWS, link_bandwidth=2e10, link_latency=5e-7).graph(2, 1)
    assert graph.edges[("leaf", 0), ("spine", 0)]["bandwidth"] == 2e11
    assert graph.edges[("nic", 1, 0), ("spine", 0)]["bandwidth"] == 2e10
    assert graph.edges[("nic", 1, 0), ("spine", 0)]["latency"] == 5e-7


def test_the_narrowest_cut_of_an_edge_list_is_its_bisection():
    assert bisection(EdgeList(edges=ROWS, link_bandwidth=2e10).graph(2, 1)) == 2e10


BAD = ["nic/0/0,leaf/0,fast,,", "nic/0/0", "nic/0/0,leaf/0,-1,,", "leaf/0,leaf/0,1,,", ",leaf/0,1,,", "a,b,nan,,"]
BAD += [
    f"{end},leaf/0,1,,"
    for end in ("nic/-/0", "nic//0", "nic/0", "nic", "gpu/a/1", "nic/0/1/2", "nic/0.5/0", "nic/-1/0")
]


@pytest.mark.parametrize("row", BAD)
def test_a_row_that_cannot_be_read_is_named_by_its_line(row):
    with pytest.raises(ValueError, match="line 2"):
        EdgeList(edges=f"source,target,bandwidth,latency,count\n{row}", link_bandwidth=1.0).graph(1, 1)


def test_a_host_without_an_edge_is_named():
    with pytest.raises(ValueError, match="host 1"):
        EdgeList(edges="source,target\nnic/0/0,leaf/0").graph(2, 1)


def test_hosts_beyond_those_of_the_cluster_are_left_out():
    graph = EdgeList(edges=ROWS + f"nic/{10**20}/0,leaf/0,,,\n", link_bandwidth=2e10).graph(1, 1)
    assert {end for end in graph if end[0] == "nic"} == {("nic", 0, 0)}
