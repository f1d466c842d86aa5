"""What one group of ranks gets from the machine while all groups of its axis run at once."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from simulator.machine.torus import Sides
from simulator.units import BytesPerSecond, Count, Number, Seconds, Share

if TYPE_CHECKING:
    from simulator.machine.collectives.links import ScaleOutLinks, ScaleUpLinks


@dataclass(frozen=True, kw_only=True)
class Channel:
    """The links of a group: all that a collective needs to know of the network.

    A *host* is here a scale-up domain: the GPUs that NVLink (or its like) joins, eight in most machines and
    72 in an NVL72 rack. Bandwidths are line rates per direction; what a collective attains of them is its own
    business (``catalog/calibration/links.yaml``).
    """

    ranks: Count
    ranks_per_host: Count = 1
    """Ranks of the group inside one scale-up domain."""
    hosts: Count = 1
    """Scale-up domains that the group spans."""
    stride: Count = 1
    """Distance between neighbours of the group, in ranks."""
    scale_up_bandwidth: BytesPerSecond = math.inf
    """Of one GPU into its scale-up network."""
    scale_up_exchange: BytesPerSecond | None = None
    """The same where every rank sends to every other, if that is less: domains of a host that their host links join."""
    scale_out_bandwidth: BytesPerSecond = math.inf
    """Of the whole group across the boundary of one domain, neighbour to neighbour."""
    exchange_bandwidth: BytesPerSecond = math.inf
    """The same where every rank sends to every other (all-to-all), which loads the upper tiers more."""
    latency: Seconds = 0.0
    """One way through the fabric between neighbours: NICs, switches and cables, without the software."""
    scale_up_latency: Seconds = 0.0
    """One way through the scale-up switch, beyond what the software constants hold."""
    tiers: tuple[tuple[str, Share], ...] = (("nic", 1.0),)
    """How full the fullest links of each class are while one is full: NICs, and links above them that may be fuller."""
    exchange_tiers: tuple[tuple[str, Share], ...] = (("nic", 1.0),)
    """The same where every rank sends to every other."""
    bottleneck: str = "scale-up"
    """The class of links that sets ``scale_out_bandwidth``."""
    scale_up_pair: BytesPerSecond | None = None
    """What two GPUs of a mesh have between them; all of it where a switch joins them."""
    sides: Sides = ()
    """On a torus, the sides of the box that the group's ranks inside a domain fill."""
    fabric: str | ScaleUpLinks = "nvlink4"
    """Entry ``fabrics`` of ``calibration/links.yaml`` that describes the scale-up links, or other constants."""
    network: str | ScaleOutLinks = "infiniband"
    """Entry ``networks`` of ``calibration/links.yaml`` that describes the scale-out network, or other constants."""
    scale_up_factor: Number = 1.0
    """Measured over predicted bandwidth inside a domain, from a user's calibration."""
    scale_out_factor: Number = 1.0
    latency_factor: Number = 1.0
    year: Count | None = None
    """Year of the library of collectives; the newest where left out."""

    @property
    def islands(self) -> bool:
        """Whether hosts of the group hold several scale-up domains, which their host links join."""
        return self.scale_up_exchange is not None

    @property
    def inside_host(self) -> bool:
        return self.hosts <= 1

    def among(self, tiers: Collection[str]) -> Channel:
        """Return the channel as if there were only these classes of links."""
        ring, exchange = (tuple(one for one in those if one[0] in tiers) for those in (self.tiers, self.exchange_tiers))
        return replace(self, tiers=ring, exchange_tiers=exchange)
