"""What holds for every topology, by being there."""

import networkx as nx
import pytest

from simulator.kinds import kinds
from topologies.base import ENDS, Topology
from topologies.measures import bisection, cables, switches

HOSTS, NICS = 8, 4
SWITCH = "\n".join(["source,target", *(f"nic/{h}/{n},leaf/0" for h in range(8) for n in range(4))])
GIVEN = {"edge-list": {"edges": SWITCH}}
TOPOLOGIES = kinds("topologies", Topology)


def make(kind, **more):
    return TOPOLOGIES[kind](**GIVEN.get(kind, {}), **more).resolved(50e9, 1e-6)


@pytest.fixture(params=TOPOLOGIES)
def topology(request):
    return make(request.param)


def test_all_kinds_of_the_contract_exist():
    named = "single-switch nvlink-domain fat-tree rail-optimized rail-only dragonfly torus edge-list"
    assert set(named.split()) <= set(TOPOLOGIES)


def test_link_rate_and_latency_come_from_the_host_unless_given(topology):
    assert (topology.link_bandwidth, topology.link_latency) == (50e9, 1e-6)
    given = make(topology.kind, link_bandwidth=25e9)
    assert given.link_bandwidth == 25e9


def test_the_graph_has_every_end_once(topology):
    ends = {node for node in topology.graph(HOSTS, NICS) if node[0] in ENDS}
    kind = "gpu" if topology.scale_up else "nic"
    assert ends == {(kind, host, index) for host in range(HOSTS) for index in range(NICS)}


def test_every_edge_has_bandwidth_latency_cables_and_tier(topology):
    for _, _, edge in topology.graph(HOSTS, NICS).edges(data=True):
        assert edge["bandwidth"] > 0
        assert edge["latency"] >= 0
        assert edge["count"] >= 1
        assert edge["tier"]


def test_a_folded_graph_has_as_many_switches_and_cables_as_the_whole_one(topology):
    whole, folded = topology.graph(HOSTS, NICS), topology.graph(HOSTS, NICS, ())
    assert len(folded) <= len(whole)
    assert switches(folded) == switches(whole)
    assert cables(folded) == cables(whole)


def test_what_is_apart_is_in_the_folded_graph_with_its_edges(topology):
    whole = topology.graph(HOSTS, NICS)
    for node in whole:
        edges = topology.graph(HOSTS, NICS, (node,)).edges(node, data="bandwidth")
        assert sum(rate for *_, rate in edges) == pytest.approx(whole.degree(node, weight="bandwidth"))


def test_ends_of_a_rail_reach_each_other(topology):
    graph, end = topology.graph(HOSTS, NICS), "gpu" if topology.scale_up else "nic"
    for rail in range(NICS):
        assert nx.has_path(graph, (end, 0, rail), (end, HOSTS - 1, rail))


def test_no_host_sends_more_than_its_links(topology):
    found = bisection(topology.graph(HOSTS, NICS))
    assert 0 < found <= HOSTS / 2 * NICS * 50e9 * (1 + 1e-12)


def test_the_bisection_of_a_folded_graph_is_that_of_the_whole_one(topology):
    whole, folded = topology.graph(HOSTS, NICS), topology.graph(HOSTS, NICS, ())
    assert bisection(folded) == pytest.approx(bisection(whole))


def test_more_link_bandwidth_widens_the_bisection_in_proportion(topology):
    single, twice = (make(topology.kind, link_bandwidth=rate).graph(HOSTS, NICS, ()) for rate in (50e9, 100e9))
    assert bisection(twice) == pytest.approx(2 * bisection(single))


@pytest.mark.parametrize("value", [0.0, -1.0, float("nan"), float("inf")])
def test_a_parameter_that_is_no_positive_number_is_refused(topology, value):
    with pytest.raises(ValueError, match="link_bandwidth"):
        make(topology.kind, link_bandwidth=value)
