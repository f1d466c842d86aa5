"""The network of a cluster: what each axis of a layout gets of it, and what links carry in a step."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from simulator.errors import ScenarioError
from simulator.machine import even_groups, traffic
from simulator.machine.channel import Channel
from simulator.machine.collectives.links import fabric as links
from simulator.machine.collectives.links import fabric_of, network_of
from simulator.machine.fault import Fault, around, factors, slowest
from simulator.machine.hardware import Host
from simulator.machine.link_load import Carried, LinkLoad, classes
from simulator.machine.placement import Placement
from simulator.machine.routing import exchange_loads, fabric, fullest, loads
from simulator.sums import added
from simulator.units import BytesPerSecond, Number, Share
from topologies.base import Bundle, Topology

if TYPE_CHECKING:
    import networkx as nx


@dataclass(frozen=True, kw_only=True)
class NetworkCalibration:
    """Measured over predicted, from a user's own nccl-tests logs."""

    scale_up: Number = 1.0
    scale_out: Number = 1.0
    latency: Number = 1.0


class Network:
    """A cluster's links. Channels are found by the size and stride of an axis, and kept."""

    def __init__(
        self,
        host: Host,
        hosts: int,
        topology: Topology,
        placement: Placement | None = None,
        faults: Sequence[Fault] = (),
        calibration: NetworkCalibration | None = None,
        luck: Share | None = None,
    ) -> None:
        """Build the network; `luck` is the quantile of what static routing leaves a flow, the mean where left out."""
        placement = placement or Placement()
        self.host, self.hosts, self.faults = host, hosts, tuple(faults)
        self.calibration = calibration or NetworkCalibration()
        self.gpus = hosts * host.gpus
        self.network = network_of(host.fabric)
        up = host.scale_up.bandwidth or host.gpu.scale_up
        self.scale_up_bandwidth = up
        if topology.scale_up:
            self.topology = topology.resolved(up, 0.0)
            self.nics, self.hosts_per_domain = host.gpus, hosts
        else:
            if hosts > 1 and not host.nics * host.nic_bandwidth:
                raise ScenarioError(
                    f"cluster.host: {host.name} has no NIC, so that {hosts} of them cannot work together"
                )
            self.topology = topology.resolved(host.nic_bandwidth or 1.0, self.network.switch_latency)
            self.nics, self.hosts_per_domain = host.nics, _hosts_per_domain(host, hosts)
        try:
            self.order = placement.order(hosts)
            self.fabric_hosts = placement.fabric_hosts(hosts)
            faults, self.topology = around(self.faults, self.topology, self.fabric_hosts, host.gpus, self.nics)
            tiers = self.topology.tiers(self.fabric_hosts, self.nics)
            self.fabric = fabric(
                self.topology,
                self.fabric_hosts,
                self.nics,
                factors(faults, self.topology, tiers, self.fabric_hosts),
                luck,
            )
        except ValueError as error:
            raise ScenarioError(f"cluster.topology: {error}") from None
        self._channels: dict[tuple[int, int], Channel] = {}

    @property
    def slow(self) -> float:
        """Return the factor on compute time of the slowest host."""
        return slowest(self.faults)

    def channel(self, size: int, stride: int = 1) -> Channel:
        """Return what one group of an axis gets while all its groups run: `size` ranks, `stride` apart."""
        if (size, stride) not in self._channels:
            self._channels[size, stride] = self._channel(size, stride)
        return self._channels[size, stride]

    def graph(self) -> nx.Graph:
        """Return the fabric switch by switch, for drawings and small fabrics."""
        return self.topology.graph(self.fabric_hosts, self.host.gpus, self.nics)

    def groups(self, size: int, stride: int) -> list[traffic.Group]:
        """Return the folded groups of an axis."""
        return list(
            traffic.groups(
                size,
                stride,
                gpus=self.gpus,
                gpus_per_host=self.host.gpus,
                hosts_per_domain=self.hosts_per_domain,
                order=self.order,
            )
        )

    def loads(self, carried: Sequence[Carried]) -> tuple[LinkLoad, ...]:
        """Return what each class of links carries, scale-up first, then from the NICs up."""
        sent = [(c.channel, c.nbytes if c.channel.inside_host else c.scale_up_bytes) for c in carried]
        gpus = LinkLoad(
            name="scale-up",
            count=self.gpus,
            bandwidth=self.scale_up_bandwidth,
            mean_bytes=added(up for _, up in sent),
            peak_bytes=added(up * self._crowding(channel) for channel, up in sent),
        )
        if self.topology.scale_up:
            return (gpus,)
        amounts: dict[Bundle, float] = {}
        for one in carried:
            if one.channel.inside_host:
                continue
            boundary = one.nbytes * one.channel.ranks_per_host
            for bundle, load in self._pattern_loads(one.channel, one.pattern).items():
                amounts[bundle] = amounts.get(bundle, 0.0) + load * boundary
        return (gpus, *classes(self.fabric, amounts))

    def _crowding(self, channel: Channel) -> Number:
        """Return a GPU's links over those that a group can use: on a mesh, those to its own ranks."""
        pair = channel.scale_up_pair
        usable = links(str(channel.fabric)).usable(channel.ranks_per_host, channel.scale_up_bandwidth, pair)
        return channel.scale_up_bandwidth / usable if usable > 0 else 1.0

    def _channel(self, size: int, stride: int) -> Channel:
        if size * stride > self.gpus or size < 1 or stride < 1:
            raise ScenarioError(f"an axis of {size} ranks, {stride} apart, needs more than {self.gpus} GPUs")
        even = self._even(size, stride)
        groups = self.groups(size, stride) if even is None else [even.first]
        widest = max(groups, key=_domains)
        inside = len(widest.domains) <= 1
        bridged = self.host.scale_up.domain < min(self.host.gpus, size * stride) and not self.topology.scale_up
        link = self.host.host_link or self.host.gpu.host_link
        kind = fabric_of(self.host.gpu.scale_up_kind, self.host.gpu.architecture)
        if bridged or (kind == "generic" and self.scale_up_bandwidth <= link):
            kind = "pcie"
        channel = Channel(
            ranks=size,
            stride=stride,
            ranks_per_host=widest.largest,
            hosts=len(widest.domains),
            scale_up_bandwidth=link if kind == "pcie" else self.scale_up_bandwidth or link,
            scale_up_pair=self._pair(kind),
            fabric=kind,
            network=self.host.fabric,
            scale_up_factor=self.calibration.scale_up,
            scale_out_factor=self.calibration.scale_out,
            latency_factor=self.calibration.latency,
        )
        if inside:
            return channel
        if even is not None:
            rings, exchanges = even_groups.ring_loads(self.fabric, even), even_groups.exchange_loads(self.fabric, even)
            loads_of = (even_groups.fullest_first(loads, self.fabric) for loads in (rings, exchanges))
            return self._across(channel, widest, *loads_of)
        ring = loads(self.fabric, (flow for group in groups for flow in traffic.ring(group)))
        return self._across(channel, widest, ring, self._exchange(groups))

    def _even(self, size: int, stride: int) -> even_groups.EvenGroups | None:
        """Return the groups of an axis as one, where they divide hosts evenly on a hierarchy of hosts."""
        if self.hosts_per_domain > 1 or not self.fabric.tiers:
            return None
        return even_groups.even_groups(size, stride, gpus=self.gpus, gpus_per_host=self.host.gpus, order=self.order)

    def _pair(self, name: str) -> BytesPerSecond | None:
        """Return what two GPUs of a mesh have between them; a domain beyond the reach of its links has a switch."""
        pair, shape = self.host.gpu.scale_up_pair, links(name).shape
        if pair is None or shape == "switch":
            return None
        most = 2 * self.scale_up_bandwidth / pair
        return pair if shape == "torus" or self.host.scale_up.domain <= most else None

    def _across(
        self, channel: Channel, widest: traffic.Group, ring: dict[Bundle, float], spread: dict[Bundle, float]
    ) -> Channel:
        """Return the channel with what the fullest links leave of the network for rings, and for exchanges."""
        nics = self.nics * self.hosts_per_domain * channel.ranks_per_host / (self.host.gpus * self.hosts_per_domain)
        slowest = fullest(self.fabric, ring, nics)
        assert slowest is not None, "a group on several hosts sends something"
        out = _sent_out(widest)
        exchange = fullest(self.fabric, spread, nics / out)
        return replace(
            channel,
            scale_out_bandwidth=slowest[0],
            exchange_bandwidth=math.inf if exchange is None else exchange[0] * out,
            bottleneck=slowest[1].tier,
            latency=2 * self.host.nic_latency + self._switches(ring, widest) * self.topology.latency,
        )

    def _switches(self, ring: dict[Bundle, float], widest: traffic.Group) -> int:
        """Return the switches between the two neighbours that are furthest apart."""
        if self.fabric.tiers:
            return 2 * len({bundle.tier for bundle in ring}) - 1
        pairs = [(here, there) for here, there, _ in traffic.ring(widest)][:64]
        return max(self.topology.switches_crossed(*pair, self.fabric_hosts, self.nics) for pair in pairs)

    def _exchange(self, groups: list[traffic.Group]) -> dict[Bundle, float]:
        if self.fabric.tiers:
            return exchange_loads(self.fabric, groups, self.hosts_per_domain)
        return loads(self.fabric, (flow for group in groups for flow in traffic.exchange(group)))

    def _pattern_loads(self, channel: Channel, pattern: str) -> dict[Bundle, float]:
        """Return the load of each bundle when one group sends 1 across a domain's boundary."""
        size, stride = channel.ranks, channel.stride
        even = self._even(size, stride)
        groups = self.groups(size, stride) if even is None else [even.first]
        if pattern == "ring":
            if even is not None:
                return even_groups.as_bundles(even_groups.ring_loads(self.fabric, even))
            return loads(self.fabric, (flow for group in groups for flow in traffic.ring(group)))
        out = _sent_out(max(groups, key=_domains))
        if even is not None:
            exchange = even_groups.as_bundles(even_groups.exchange_loads(self.fabric, even))
        else:
            exchange = self._exchange(groups)
        return {bundle: load / out for bundle, load in exchange.items()}


def _domains(group: traffic.Group) -> int:
    return len(group.domains)


def _sent_out(group: traffic.Group) -> float:
    """Return what of an exchange leaves the fullest domain of a group, in buffers of one rank."""
    return group.largest * (group.ranks - group.largest) / group.ranks


def _hosts_per_domain(host: Host, hosts: int) -> int:
    """Return the hosts of a scale-up domain that one job gets.

    A cluster of several racks gives a job the largest power of two of each, 64 of 72 GPUs, so that parallel groups,
    which are powers of two, do not straddle racks; the rest are spares (``--segment 16`` of NVIDIA's recipes for
    four-GPU trays).
    """
    whole = max(1, host.scale_up.domain // host.gpus)
    return whole if hosts <= whole else 1 << (whole.bit_length() - 1)
