"""What holds for every topology, by being there."""

import networkx as nx
import pytest

from simulator.kinds import kinds
from topologies.base import Topology

HOSTS, GPUS, NICS = 8, 4, 4
SWITCH = "\n".join(
    ["source,target,bandwidth,latency,count", *(f"nic/{h}/{n},leaf/0,,," for h in range(8) for n in range(4))]
)
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
    graph = topology.graph(HOSTS, GPUS, NICS)
    ends = {node for node in graph if node[0] in ("nic", "gpu")}
    kind, count = ("gpu", GPUS) if topology.scale_up else ("nic", NICS)
    assert ends == {(kind, host, index) for host in range(HOSTS) for index in range(count)}


def test_every_edge_has_bandwidth_latency_cables_and_tier(topology):
    for _, _, edge in topology.graph(HOSTS, GPUS, NICS).edges(data=True):
        assert edge["bandwidth"] > 0
        assert edge["latency"] >= 0
        assert edge["count"] >= 1
        assert edge["tier"]


def test_counts_are_those_of_the_graph(topology):
    graph, counts = topology.graph(HOSTS, GPUS, NICS), topology.counts(HOSTS, GPUS, NICS)
    switches = [node for node in graph if node[0] not in ("nic", "gpu")]
    assert sum(counts.switches.values()) == len(switches)
    assert sum(counts.cables.values()) == sum(edge["count"] for _, _, edge in graph.edges(data=True))


def test_ends_of_a_rail_reach_each_other(topology):
    graph = topology.graph(HOSTS, GPUS, NICS)
    end = "gpu" if topology.scale_up else "nic"
    for rail in range(NICS):
        assert nx.has_path(graph, (end, 0, rail), (end, HOSTS - 1, rail))


def test_routes_start_and_end_at_the_ends_and_follow_edges(topology):
    graph = topology.graph(HOSTS, GPUS, NICS)
    end = "gpu" if topology.scale_up else "nic"
    for route in topology.routes(graph, (end, 0, 1), (end, HOSTS - 1, 1)):
        assert (route[0], route[-1]) == ((end, 0, 1), (end, HOSTS - 1, 1))
        assert nx.is_path(graph, route)


def test_no_host_sends_more_than_its_links(topology):
    bisection = topology.bisection_bandwidth(HOSTS, GPUS, NICS)
    assert 0 < bisection <= HOSTS / 2 * NICS * 50e9 * (1 + 1e-12)


def test_more_link_bandwidth_widens_the_bisection_in_proportion(topology):
    twice = make(topology.kind, link_bandwidth=100e9)
    single = topology.bisection_bandwidth(HOSTS, GPUS, NICS)
    assert twice.bisection_bandwidth(HOSTS, GPUS, NICS) == pytest.approx(2 * single)


def test_traffic_to_oneself_crosses_nothing(topology):
    assert list(topology.bundles(3, 3, HOSTS, NICS)) == []
    assert topology.switches_crossed(3, 3, HOSTS, NICS) == 0


def test_each_bundle_on_a_route_has_a_capacity(topology):
    for bundle, share in topology.bundles(0, HOSTS - 1, HOSTS, NICS):
        assert topology.capacity(bundle, HOSTS, NICS) > 0
        assert 0 < share <= 1


@pytest.mark.parametrize("value", [0.0, -1.0, float("nan"), float("inf")])
def test_a_parameter_that_is_no_positive_number_is_refused(topology, value):
    with pytest.raises(ValueError, match="link_bandwidth"):
        make(topology.kind, link_bandwidth=value)
