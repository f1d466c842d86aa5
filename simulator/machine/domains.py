"""Scale-up domains: what joins the GPUs of one, how many hosts of one a job gets, and who can map whose memory."""

from __future__ import annotations

from math import ceil
from typing import NamedTuple

from simulator.machine.collectives.links import fabric as links
from simulator.machine.collectives.links import fabric_of
from simulator.machine.hardware import Host
from simulator.units import BytesPerSecond, Count, Number, Share
from topologies.base import Topology

PCIE = "pcie"
"""Kind of the links of cards that meet over their host links."""
SHARED = "pcie-shared"
"""The same of cards without peer access that share one path."""
BRIDGE = "bridge"
"""Word of the kind of links that join two cards (NVIDIA A100 and H100 PCIe product briefs: one bridge, two GPUs)."""
PAIR: Count = 2
MOST_SPREAD: Number = 1.25
"""A job is spread evenly where that takes at most so many times the fewest domains: 64 of 72 GPUs are 1.125."""
THROUGH_HOST_MEMORY: Share = 0.73
"""Share of a host's memory bandwidth that copies of GPUs without peer access get: 28 GB/s in and as much out of each
of eight RTX 5090, of the 614 GB/s of two Xeon 8480+ with 16 modules of DDR5-4800. An author of NCCL names processor and
memory as what sets it there (NVIDIA/nccl issue 1639)."""


class Joined(NamedTuple):
    """What a group has of the links inside its hosts."""

    kind: str
    """Entry ``fabrics`` of ``calibration/links.yaml``."""
    bandwidth: BytesPerSecond
    """Of one GPU, for rings."""
    exchange: BytesPerSecond | None = None
    """Of one GPU where every rank sends to every other; as for rings where left out."""


def scale_up(host: Host) -> Joined:
    """Return what joins a domain, and what one GPU has of it.

    What the host says is so. Where it says nothing, cards that meet over PCIe have their host link, others their own
    links. A bridge joins two cards; a wider domain of such cards meets over PCIe.
    """
    host_link = host.host_link or host.gpu.host_link
    given, own = host.scale_up.bandwidth, host.gpu.scale_up
    kind = fabric_of(host.gpu.scale_up_kind, host.gpu.architecture)
    if BRIDGE in host.gpu.scale_up_kind and host.scale_up.domain <= PAIR:
        kind = fabric_of(host.gpu.scale_up_kind.split()[0], host.gpu.architecture)
    if kind == "generic" and (given or own) <= host_link:
        kind = PCIE
    if kind == SHARED:
        return Joined(kind, given or host_link)
    return Joined(kind, given or (_reached(host, host_link) if kind == PCIE else own or host_link))


def over_host_links(host: Host) -> bool:
    """Return whether some GPUs of a host have what their host links give them."""
    meet = scale_up(host).kind in (PCIE, SHARED) and not host.scale_up.bandwidth
    return host.gpus > 1 and (meet or host.scale_up.domain < host.gpus)


def across_islands(host: Host, size: Count, stride: Count) -> Joined:
    """Return what a group has whose hosts hold several domains, joined by the host links of their GPUs.

    A ring crosses from one domain to the next over the host links of all its ranks there, as rings through hosts use
    all NICs, so that it has the least of the domain's links and these. In an all-to-all each GPU sends what leaves its
    domain over its own host link.
    """
    inside = scale_up(host)
    link = min(inside.bandwidth, _reached(host, host.host_link or host.gpu.host_link))
    here = max(1, min(size, host.scale_up.domain // stride))
    if here == 1 or inside.kind in (PCIE, SHARED):
        return Joined(PCIE, link)
    pcie, own = links(PCIE), links(inside.kind)
    together = max(2, min(size, host.gpus // stride))
    ring = min(inside.bandwidth, here * link * pcie.ring / own.ring)
    leaving = (together - here) / (together - 1)
    exchange = min(inside.bandwidth, link * pcie.all_to_all / own.all_to_all / leaving) if leaving > 0 else ring
    return Joined(inside.kind, ring, min(ring, exchange))


def _reached(host: Host, host_link: BytesPerSecond) -> BytesPerSecond:
    """Return what GPUs get of their host links, which without peer access send through the memory of their host.

    Every byte is written there once and read once, by all GPUs at the same time.
    """
    if host.gpu.peer_access:
        return host_link
    of_memory = THROUGH_HOST_MEMORY * host.memory_bandwidth / (2 * host.gpus)
    return min(host_link, of_memory / links(PCIE).ring)


def hosts_per_domain(host: Host, hosts: Count) -> Count:
    """Return the hosts of a scale-up domain that one job gets: as many of each domain, of as few as possible.

    Whole racks are taken whole: 36 trays of NVL72 are two racks of 18, and 64 are four racks of 16 (``--segment 16`` of
    NVIDIA's recipes for four-GPU trays). Where no even share is near, the last domain gets less.
    """
    whole = max(1, host.scale_up.domain // host.gpus)
    if hosts <= whole:
        return whole
    fewest = ceil(hosts / whole)
    even = (domains for domains in range(fewest, int(MOST_SPREAD * fewest) + 1) if hosts % domains == 0)
    return ceil(hosts / next(even, fewest))


def mapped(host: Host, topology: Topology, gpus: Count) -> Count:
    """Return how many GPUs can map each other's memory, which kernels that send while they multiply need.

    Links of a domain do it, multi-node NVLink included; PCIe and NICs do not (NVIDIA/TransformerEngine issue 1071 and
    pull request 1470: user buffers are multicast handles of one NVLink domain).
    """
    if topology.scale_up:
        return gpus
    return 1 if scale_up(host).kind in (PCIE, SHARED) else host.scale_up.domain
