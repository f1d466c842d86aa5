"""The closed form of a channel against max-min on the fabric, switch by switch."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.machine import traffic
from simulator.machine.hardware import host
from simulator.machine.network import Network
from simulator.machine.placement import Placement
from simulator.machine.sharing import max_min
from topologies.dragonfly import Dragonfly
from topologies.fat_tree import FatTree
from topologies.rail_only import RailOnly
from topologies.rail_optimized import RailOptimized
from topologies.single_switch import SingleSwitch
from topologies.torus import Torus

HOST = host("dgx-h100")
RATIOS = st.sampled_from([1.0, 2.0, 3.0, 7.0])
FABRICS = st.one_of(
    st.just(SingleSwitch()),
    st.builds(lambda o: FatTree(levels=2, hosts_per_leaf=2, oversubscription=o), RATIOS),
    st.builds(
        lambda o, p: FatTree(levels=3, hosts_per_leaf=1, hosts_per_pod=2, oversubscription=(o, p)), RATIOS, RATIOS
    ),
    st.builds(lambda o: RailOptimized(hosts_per_unit=2, oversubscription=o), RATIOS),
    st.builds(lambda o, n: RailOptimized(hosts_per_unit=2, oversubscription=o, planes=n), RATIOS, st.integers(1, 2)),
    st.builds(lambda o: FatTree(levels=2, hosts_per_leaf=2, planes=2, uplink_rate=2.0, oversubscription=o), RATIOS),
    st.builds(lambda o: RailOnly(radix=4, oversubscription=o), RATIOS),
    st.just(Dragonfly(hosts_per_router=1, routers_per_group=2, global_links=2)),
    st.just(Torus()),
)
AXES = st.sampled_from([(16, 1), (32, 1), (2, 8), (4, 8), (8, 8), (2, 16), (2, 32), (4, 4), (8, 2), (4, 16)])


def usage(network, graph, flow):
    """Return what a flow of size 1 between two hosts puts on each directed edge: rail by rail, on all routes alike."""
    source, destination, amount = flow
    found = {}
    for rail in range(network.nics):
        routes = network.topology.routes(graph, ("nic", source, rail), ("nic", destination, rail))
        for route in routes:
            for edge in pairwise(route):
                found[edge] = found.get(edge, 0.0) + amount / network.nics / len(routes)
    return found


def directed(graph):
    return {
        edge: data["bandwidth"] for one, other, data in graph.edges(data=True) for edge in ((one, other), (other, one))
    }


@settings(max_examples=60, deadline=None)
@given(FABRICS, AXES, st.sampled_from([4, 8]), st.sampled_from(["contiguous", "scattered"]))
def test_closed_form_is_the_max_min_of_the_explicit_graph(topology, axis, hosts, placement):
    size, stride = axis
    if size * stride > hosts * HOST.gpus:
        return
    network = Network(HOST, hosts, topology, Placement(kind=placement))
    channel, graph = network.channel(size, stride), network.graph()
    if channel.inside_host:
        return
    flows, counts = [], []
    for group in network.groups(size, stride):
        for source, destination, amount in traffic.ring(group):
            flows.append(usage(network, graph, (source, destination, amount / group.count)))
            counts.append(group.count)
    rates = max_min(flows, directed(graph), counts=counts)
    assert channel.scale_out_bandwidth == pytest.approx(min(rates), rel=1e-9)


@settings(max_examples=40, deadline=None)
@given(FABRICS, AXES, st.sampled_from([4, 8]))
def test_closed_form_of_an_exchange_is_that_of_the_explicit_graph(topology, axis, hosts):
    size, stride = axis
    if size * stride > hosts * HOST.gpus:
        return
    network = Network(HOST, hosts, topology)
    channel, graph = network.channel(size, stride), network.graph()
    if channel.inside_host:
        return
    load = {}
    for group in network.groups(size, stride):
        for flow in traffic.exchange(group):
            for edge, amount in usage(network, graph, flow).items():
                load[edge] = load.get(edge, 0.0) + amount
    capacities = directed(graph)
    out = channel.ranks_per_host * (size - channel.ranks_per_host) / size
    slowest = min(capacities[edge] / amount for edge, amount in load.items())
    assert channel.exchange_bandwidth == pytest.approx(slowest * out, rel=1e-9)
