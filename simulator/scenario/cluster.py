"""The `cluster` section: hosts, spares, fabric, storage, placement and what is sick from the start."""

from __future__ import annotations

from dataclasses import dataclass, field

from simulator.machine.fault import Fault
from simulator.machine.hardware import Host, Storage
from simulator.machine.placement import Placement
from simulator.scenario.mistakes import Mistakes
from simulator.units import BytesPerSecond, Count
from topologies.base import Topology
from topologies.fat_tree import FatTree

STORAGE_OF_A_HOST: BytesPerSecond = 1e9
"""Sustained share of one host: 2 TB/s for 2,048 hosts (Llama 3, arXiv 2407.21783, section 3.3.1)."""


@dataclass(frozen=True, kw_only=True)
class ClusterSection:
    host: Host
    """A host of the catalog, or its keys."""
    hosts: Count
    """Hosts that train; spares are not among them."""
    spares: Count | None = None
    """Rented and idle. Left out, a failed host is replaced at once; 0 makes the job wait for the repair."""
    topology: Topology = field(default_factory=FatTree)
    """The smallest non-blocking fat-tree where left out; link rate and latency from the host's NICs."""
    storage: Storage | None = None
    """Checkpoint storage as the whole cluster sees it; 1 GB/s a host where left out."""
    placement: Placement = field(default_factory=Placement)
    """Which hosts of the fabric the job uses, and in which order."""
    faults: tuple[Fault, ...] = ()
    """What is slow or dead from the start."""
    collectives: str = "auto"
    """`auto` takes the fastest algorithm; a name pins one."""


@dataclass(frozen=True, kw_only=True)
class Cluster:
    host: Host
    host_name: str
    hosts: int
    spares: int | None
    topology: Topology
    storage: Storage
    placement: Placement
    faults: tuple[Fault, ...]
    collectives: str


def check(section: ClusterSection, mistakes: Mistakes) -> None:
    """Note a GPU that computes nothing."""
    if not section.host.gpu.peak:
        mistakes.add(("cluster", "host", "gpu", "peak"), "no precision; write {bf16: 989TFLOPS} or the like")


def usual_storage(hosts: Count) -> Storage:
    """Return the storage of a cluster that says nothing of it."""
    rate = STORAGE_OF_A_HOST * hosts
    return Storage(write=rate, read=rate)


def resolve(section: ClusterSection) -> Cluster:
    """Return the cluster that `section` describes."""
    return Cluster(
        host=section.host,
        host_name=section.host.name,
        hosts=section.hosts,
        spares=section.spares,
        topology=section.topology,
        storage=section.storage or usual_storage(section.hosts),
        placement=section.placement,
        faults=section.faults,
        collectives=section.collectives,
    )
