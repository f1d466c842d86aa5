"""What collectives attain of links: the constants of each generation, from ``catalog/calibration/links.yaml``."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from simulator import catalog
from simulator.machine.collectives.inside import Inside, mean, read
from simulator.machine.torus import Sides
from simulator.units import Bytes, BytesPerSecond, Count, Seconds, Share, parse

PAIR: Count = 2
MEAN = "mean"
"""What an entry says that takes the mean of the generations measured inside a domain."""


@dataclass(frozen=True, kw_only=True)
class ScaleUpLinks:
    """A generation of links inside a scale-up domain; shares are of the datasheet's bandwidth."""

    nccl: str
    """The row of NCCL's tables: Volta, Ampere, Hopper, Blackwell."""
    steps: Literal["NVLINK", "PCI", "NET"]
    """Which latencies of NCCL a step has."""
    shape: Literal["switch", "mesh", "cube-mesh", "torus", "shared"]
    link: BytesPerSecond | None = None
    """One link of the data sheet, where NCCL says what it counts on of it."""
    ring: Share
    peer: Share
    all_to_all: Share
    multicast: Share | None = None
    multicast_bus: Share = 1.0
    fill: Bytes = 0.0
    turn: BytesPerSecond | None = None
    """Rate at which a rank of a ring works on its own part before or after all sends, where that shows."""
    turn_source: str = ""
    """Whose measurement it is from."""
    wraps: int = 1
    """On a torus, sides whose length is a multiple of this close to rings."""
    cubes: bool = False
    """On a torus, whether sides close only where all of them are such multiples."""
    links_used: tuple[tuple[int, int], ...] = ()
    """On a mesh that is not full, links that a ring of so many ranks can use."""
    latencies: tuple[tuple[str, Seconds], ...] = ()
    """Measured latency by protocol, where the library is not NCCL."""
    step: tuple[tuple[str, Seconds], ...] = ()
    """Measured latency of a step by protocol, where it is not NCCL's."""
    latency_source: str = ""
    """Whose measurement the latencies are from."""
    inside: Inside | None = None
    """What NCCL attains inside one domain, where that was measured at all sizes."""

    def usable(
        self, ranks: int, bandwidth: BytesPerSecond, pair: BytesPerSecond | None, sides: Sides = ()
    ) -> BytesPerSecond:
        """Return what a ring of `ranks` can use of a GPU's links: on a mesh those to the other ranks, on a torus those
        along the sides of the box that the ranks fill.

        On a shared path each of n gets 1/n of what the path carries, and that falls with 1/n as well.
        """
        if self.shape == "shared":
            return bandwidth * (PAIR / max(PAIR, ranks)) ** 2
        if self.shape == "switch" or pair is None:
            return bandwidth
        if self.shape == "torus":
            return min(bandwidth, pair * sum(side.links for side in sides)) if sides else bandwidth
        links = max((used for least, used in self.links_used if least <= ranks), default=ranks - 1)
        return min(bandwidth, pair * links)


@dataclass(frozen=True, kw_only=True)
class ScaleOutLinks:
    """A kind of network between hosts."""

    efficiency: Share
    """Delivered over line rate of a NIC."""
    latency: Seconds
    """Of the protocol, one hop between hosts, beyond NCCL's own for InfiniBand."""
    switch_latency: Seconds
    latency_source: str = ""
    """Whose measurement ``latency`` is from."""


@dataclass(frozen=True, kw_only=True)
class Shared:
    """Constants of the library that hold on all links."""

    tree: Share
    send: Share
    exchange: Share
    slice: Bytes


@cache
def _entry() -> dict[str, Any]:
    return catalog.entry("calibration", "links")


@cache
def fabric_of(kind: str, architecture: str) -> str:
    """Return the entry for scale-up links by their kind ("NVLink4 NVSwitch SHARP"), else by the architecture."""
    fabrics: dict[str, Any] = _entry()["fabrics"]
    matches = [(len(prefix), name) for name, f in fabrics.items() for prefix in f["kinds"] if kind.startswith(prefix)]
    if matches:
        return max(matches)[1]
    return next((name for name, f in fabrics.items() if architecture in f["architectures"]), "generic")


@cache
def fabric(name: str) -> ScaleUpLinks:
    """Return the constants of scale-up links by their entry."""
    found = _entry()["fabrics"][name]
    return ScaleUpLinks(
        nccl=found["nccl"],
        steps=found["steps"],
        shape=found["shape"],
        link=parse(found["link"], "B/s") if "link" in found else None,
        ring=float(found["ring"]),
        peer=float(found["peer"]),
        all_to_all=float(found["all_to_all"]),
        multicast=float(found["multicast"]) if "multicast" in found else None,
        multicast_bus=float(found.get("multicast_bus", 1.0)),
        fill=parse(found["fill"], "B"),
        turn=parse(found["turn"], "B/s") if "turn" in found else None,
        turn_source=found.get("turn_source", ""),
        wraps=int(found.get("wraps", 1)),
        cubes=found.get("cubes") == "true",
        links_used=tuple((int(ranks), int(links)) for ranks, links in found.get("links_used", {}).items()),
        step=tuple((protocol, parse(text, "s")) for protocol, text in found.get("step", {}).items()),
        latencies=tuple((protocol, parse(text, "s")) for protocol, text in found.get("latencies", {}).items()),
        latency_source=found.get("latency_source", ""),
        inside=_inside(found.get("inside")),
    )


@cache
def measured_inside(apart_from: str = "") -> Inside:
    """Return the mean of the generations that were measured inside a domain, for one that was not."""
    fabrics = _entry()["fabrics"].items()
    switched = (f.get("inside") for name, f in fabrics if name != apart_from and f["steps"] == "NVLINK")
    return mean([read(one) for one in switched if isinstance(one, dict)])


def _inside(entry: Any) -> Inside | None:
    if entry is None:
        return None
    return measured_inside() if entry == MEAN else read(entry)


@cache
def network_of(name: str) -> ScaleOutLinks:
    """Return the constants of a network by the host's ``fabric``; InfiniBand's where it is not known."""
    networks = _entry()["networks"]
    found = networks.get(name, networks["infiniband"])
    return ScaleOutLinks(
        efficiency=float(found["efficiency"]),
        latency=parse(found["latency"], "s"),
        switch_latency=parse(found["switch_latency"], "s"),
        latency_source=found.get("latency_source", ""),
    )


@cache
def shared() -> Shared:
    """Return the constants of the library."""
    found = _entry()["shared"]
    return Shared(
        tree=float(found["tree"]),
        send=float(found["send"]),
        exchange=float(found["exchange"]),
        slice=parse(found["slice"], "B"),
    )
