"""How fast fabrics are folded, routed and shared; limits hold for a core of a 2023 server (Intel Xeon, 2.1 GHz).

CPU seconds there for fabric and channels of seven axes, with the peak memory of the process:

| GPUs | Meta's fabric | rail-optimized | memory |
|---|---|---|---|
| 1,024 | 0.02 | 0.01 | 54 MB |
| 16,384 | 0.12 | 0.06 | 75 MB |
| 131,072 | 1.0 | 0.8 | 100 MB |
| 131,072, a NIC of the first host at half its rate | 2.0 | 1.5 | 180 MB |
| 131,072, a spine at half its rate | 5.2 | 2.4 | 215 MB |
"""

from __future__ import annotations

import resource
from time import process_time

import pytest

from simulator.machine.fault import Fault
from simulator.machine.hardware import host
from simulator.machine.network import Network, wired
from simulator.machine.placement import Placement
from topologies.base import Topology
from topologies.dragonfly import Dragonfly
from topologies.fat_tree import FatTree
from topologies.rail_optimized import RailOptimized
from topologies.torus import Torus

pytestmark = pytest.mark.benchmark
META = FatTree(levels=3, hosts_per_leaf=2, hosts_per_pod=384, oversubscription=(1.0, 7.0))
"""Meta's 24K-GPU cluster: 3,072 GPUs a pod, 1:7 above (arXiv 2407.21783)."""
SICK = (Fault(nic="0/3", bandwidth=0.5),)
MEBIBYTE = 2**20


def built(topology: Topology, gpus: int, **more: object) -> float:
    """Build the fabric and channels of tensor, data, pipeline and experts; return the CPU seconds."""
    hosts = gpus // 8
    wired.cache_clear()
    begun = process_time()
    network = Network(host("hgx-h100"), hosts, topology, **more)  # type: ignore[arg-type]
    for size, stride in ((8, 1), (16, 8), (64, 1), (hosts // 16, 8), (16, hosts // 2), (hosts, 8), (gpus, 1)):
        assert network.channel(size, stride).ranks == size
    return process_time() - begun


@pytest.mark.parametrize("kind", ["contiguous", "scattered"])
@pytest.mark.parametrize("fabric", [META, RailOptimized()], ids=["Meta's fabric", "rail-optimized"])
@pytest.mark.parametrize(("gpus", "limit"), [(1024, 0.3), (16_384, 0.6), (131_072, 3.0)])
def test_a_fabric_with_its_channels_takes(fabric: Topology, gpus: int, limit: float, kind: str):
    assert built(fabric, gpus, placement=Placement(kind=kind)) < limit  # type: ignore[arg-type]


@pytest.mark.parametrize("fabric", [META, RailOptimized()], ids=["Meta's fabric", "rail-optimized"])
def test_a_fabric_whose_nics_differ_takes(fabric: Topology):
    assert built(fabric, 131_072, faults=SICK) < 6.0


@pytest.mark.parametrize("fabric", [Torus(), Dragonfly()], ids=["torus", "dragonfly"])
def test_a_fabric_that_is_no_tree_takes(fabric: Topology):
    assert built(fabric, 8192) < 10.0


def test_the_largest_fabric_takes_less_than_400_mebibytes():
    built(META, 131_072)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 < 400 * MEBIBYTE
