"""A folded fabric gives what the whole one gives; and that is what networkx finds on it, way by way."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from simulator.errors import ForetrainError
from simulator.machine.fabric import Fabric
from simulator.machine.fault import Fault, weakened
from simulator.machine.hardware import host
from simulator.machine.network import Network
from simulator.machine.placement import Placement
from simulator.machine.sharing import max_min
from topologies.dragonfly import Dragonfly
from topologies.edge_list import EdgeList
from topologies.fat_tree import FatTree
from topologies.rail_only import RailOnly
from topologies.rail_optimized import RailOptimized
from topologies.single_switch import SingleSwitch
from topologies.torus import Torus

HOST = replace(host("dgx-h100"), gpus=4, nics=4, scale_up=replace(host("dgx-h100").scale_up, domain=4))
RATIOS = st.sampled_from([1.0, 2.0, 3.0, 7.0])
PLANES = st.integers(1, 2)
TWO_LEVELS = st.builds(
    lambda o, n, p, r: FatTree(levels=2, hosts_per_leaf=n, oversubscription=o, planes=p, uplink_rate=r),
    RATIOS, st.integers(1, 3), PLANES, st.sampled_from([1.0, 2.0]),
)  # fmt: skip
THREE_LEVELS = st.builds(
    lambda o, p, n, q: FatTree(levels=3, hosts_per_leaf=n, hosts_per_pod=2 * n, oversubscription=(o, p), planes=q),
    RATIOS, RATIOS, st.integers(1, 2), PLANES,
)  # fmt: skip
RAILS = st.builds(
    lambda o, n, p, r: RailOptimized(hosts_per_unit=n, oversubscription=o, planes=p, radix=r),
    RATIOS, st.integers(1, 3), PLANES, st.sampled_from([8, 64]),
)  # fmt: skip
CLOS = st.one_of(TWO_LEVELS, THREE_LEVELS, RAILS, st.builds(lambda o: RailOnly(radix=4, oversubscription=o), RATIOS))
CABLES = EdgeList(
    edges="\n".join(
        ["source,target,bandwidth,count"]
        + [f"nic/{h}/{n},leaf/{h // 3},," for h in range(12) for n in range(4)]
        + [f"leaf/{leaf},spine/{spine},50e9,{1 + spine}" for leaf in range(4) for spine in range(3)]
    )
)
FABRICS = st.one_of(
    CLOS,
    st.just(SingleSwitch()),
    st.builds(lambda n: Dragonfly(hosts_per_router=1, routers_per_group=2, global_links=n), st.integers(3, 6)),
    st.just(Torus()),
    st.just(CABLES),
)
AXES = st.sampled_from(
    [(4, 1), (8, 1), (2, 4), (3, 4), (4, 4), (2, 8), (6, 8), (4, 2), (2, 12), (24, 2), (6, 4), (2, 24)]
)
SHARES = st.sampled_from([0.0, 0.25, 0.5])
NAMES = st.one_of(
    st.builds(lambda h, n: {"nic": f"{h}/{n}"}, st.integers(0, 5), st.integers(0, 3)),
    st.builds(lambda n: {"leaf": n}, st.integers(0, 5)),
    st.builds(lambda n: {"spine": n}, st.integers(0, 7)),
    st.builds(lambda n: {"switch": f"core/{n}"}, st.integers(0, 3)),
    st.builds(lambda n: {"switch": f"router/{n}"}, st.integers(0, 5)),
    st.builds(lambda n: {"host": n}, st.integers(0, 5)),
    st.builds(lambda leaf, spine: {"link": (f"leaf/{leaf}", f"spine/{spine}")}, st.integers(0, 5), st.integers(0, 5)),
    st.builds(lambda one, other: {"link": (f"router/{one}", f"router/{other}")}, st.integers(0, 5), st.integers(0, 5)),
)
FAULTS = st.lists(st.builds(lambda name, share: Fault(bandwidth=share, **name), NAMES, SHARES), max_size=2)


def rates(network: Network, fabric: Fabric, axis: tuple[int, int]) -> list[float]:
    """Return the max-min rate of each group of an axis, while all run their rings."""
    size, stride = axis
    first = np.arange(network.gpus)
    flows = []
    for rank in first[first // stride % size == 0]:
        load = fabric.loads(network.groups(size, stride, np.array([rank])).ring())
        flows.append({int(link): float(load[link]) for link in np.flatnonzero(load)})
    return max_min(flows, dict(enumerate(fabric.capacity.tolist())))


@settings(max_examples=150, deadline=None)
@given(FABRICS, AXES, st.integers(6, 12), st.sampled_from(["contiguous", "scattered"]), FAULTS)
def test_all_groups_of_an_axis_get_on_a_folded_fabric_what_they_get_on_the_whole_one(
    topology, axis, hosts, placement, faults
):
    hosts = 12 if topology == CABLES else hosts
    assume(axis[0] * axis[1] <= hosts * HOST.gpus)
    try:
        network = Network(HOST, hosts, topology, Placement(kind=placement), faults)
    except ForetrainError:
        assume(False)
    whole = Fabric(weakened(network.graph(), faults), hosts)
    assert rates(network, network.fabric, axis) == pytest.approx(rates(network, whole, axis), rel=1e-9)
    groups = network.groups(*axis)
    for folded, explicit in (
        (network.fabric.loads(groups.ring()), whole.loads(groups.ring())),
        (network.fabric.exchange(groups), whole.exchange(groups)),
    ):
        for tier in set(whole.tiers):
            assert fullest(network.fabric, folded, tier) == pytest.approx(fullest(whole, explicit, tier), rel=1e-9)
    assert network.fabric.latency(groups.ring()) == pytest.approx(whole.latency(groups.ring()))


def fullest(fabric: Fabric, load: np.ndarray, tier: str) -> float:
    return max(share for share, name in zip(load / fabric.capacity, fabric.tiers, strict=True) if name == tier)


def by_networkx(graph: nx.Graph, flows) -> dict:
    """Return what flows put on each directed edge: rail by rail, on all shortest ways alike."""
    found: dict = {}
    for source, target, amount in zip(*flows, strict=True):
        for rail in range(HOST.nics):
            ways = list(nx.all_shortest_paths(graph, ("nic", source, rail), ("nic", target, rail)))
            for way in ways:
                for hop in pairwise(way):
                    found[hop] = found.get(hop, 0.0) + amount / HOST.nics / len(ways)
    return found


@settings(max_examples=60, deadline=None)
@given(st.one_of(CLOS, st.just(SingleSwitch())), AXES, st.integers(6, 10), st.sampled_from(["contiguous", "scattered"]))
def test_channels_are_the_least_of_capacity_over_load_on_all_shortest_ways(topology, axis, hosts, placement):
    assume(axis[0] * axis[1] <= hosts * HOST.gpus)
    network = Network(HOST, hosts, topology, Placement(kind=placement))
    channel, graph, groups = network.channel(*axis), network.graph(), network.groups(*axis)
    assume(not channel.inside_host)
    ring = by_networkx(graph, groups.ring())
    assert channel.scale_out_bandwidth == pytest.approx(min(graph.edges[e]["bandwidth"] / ring[e] for e in ring))
    exchange: dict = {}
    for flows in groups.exchange():
        for edge, load in by_networkx(graph, flows).items():
            exchange[edge] = exchange.get(edge, 0.0) + load
    _, ranks, here = groups.widest
    slowest = min(graph.edges[edge]["bandwidth"] / load for edge, load in exchange.items())
    assert channel.exchange_bandwidth == pytest.approx(slowest * here * (ranks - here) / ranks, rel=1e-9)


def test_a_torus_is_crossed_one_dimension_after_the_other():
    """From host 0 to host 5 = (1, 1) of 4 x 3: along the first dimension to host 1, then along the second."""
    network = Network(HOST, 12, Torus(dimensions=(4, 3)))
    load = network.fabric.loads(network.groups(2, 20, np.array([0])).ring())
    graph = network.fabric.graph
    numbers = {node: number for number, node in enumerate(graph)}
    ways = [(("router", 0), ("router", 1)), (("router", 1), ("router", 5))]
    back = [(("router", 5), ("router", 4)), (("router", 4), ("router", 0))]
    for one, other in ways + back:
        assert load[network.fabric.link(np.array([numbers[one]]), np.array([numbers[other]]))] == pytest.approx(1.0)
    assert load.sum() == pytest.approx(8.0)


def test_a_dragonfly_sends_over_every_link_between_two_groups():
    """Two groups of two routers with four cables: two at each router, so that half of the traffic takes a local hop."""
    network = Network(HOST, 4, Dragonfly(hosts_per_router=1, routers_per_group=2, global_links=2))
    load = network.fabric.loads(network.groups(2, 8, np.array([0])).ring())
    carried = {
        tier: sum(a for a, t in zip(load, network.fabric.tiers, strict=True) if t == tier)
        for tier in ("local", "global")
    }
    assert carried == pytest.approx({"global": 2.0, "local": 2 * (0.5 + 0.5)})


@pytest.mark.parametrize("topology", [FatTree(levels=2, hosts_per_leaf=2), RailOptimized(hosts_per_unit=2)])
def test_a_clos_folds_to_a_tree_of_hosts_leaves_and_one_spine(topology):
    graph = topology.graph(16, 8, ())
    assert len(graph) == 16 + 8 + 1
    assert nx.is_tree(graph)
