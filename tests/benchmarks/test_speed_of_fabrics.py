"""How fast fabrics are built, routed and shared; limits hold for a core of a 2023 server (Intel Xeon, 2.1 GHz)."""

from __future__ import annotations

import resource
from time import process_time

import pytest

from simulator.machine.hardware import host
from simulator.machine.network import Network
from topologies.base import Topology
from topologies.fat_tree import FatTree
from topologies.rail_optimized import RailOptimized

pytestmark = pytest.mark.benchmark
META = FatTree(levels=3, hosts_per_leaf=2, hosts_per_pod=384, oversubscription=(1.0, 7.0))
"""Meta's 24K-GPU cluster: 3,072 GPUs a pod, 1:7 above (arXiv 2407.21783)."""
GIB = 2**30


def built(fabric: Topology, gpus: int) -> None:
    """Build the graph, routes between far and near hosts, and channels of tensor, data, pipeline and experts."""
    hosts = gpus // 8
    network = Network(host("hgx-h100"), hosts, fabric)
    graph = network.graph()
    assert sum(node[0] == "nic" for node in graph) == gpus
    for other in (1, hosts // 2, hosts - 1):
        assert network.topology.routes(graph, ("nic", 0, 0), ("nic", other, 0))
    for size, stride in ((8, 1), (16, 8), (64, 1), (hosts // 16, 8), (16, hosts // 2), (hosts, 8), (gpus, 1)):
        assert network.channel(size, stride).ranks == size


@pytest.mark.parametrize("fabric", [META, RailOptimized()], ids=["Meta's fabric", "rail-optimized"])
@pytest.mark.parametrize(("gpus", "limit"), [(16_384, 2.0), (131_072, 10.0)])
def test_a_fabric_with_graph_routes_and_channels_takes(fabric: Topology, gpus: int, limit: float):
    begun = process_time()
    built(fabric, gpus)
    assert process_time() - begun < limit


def test_the_largest_fabric_takes_less_than_a_gibibyte():
    built(META, 131_072)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 < GIB
