"""The network of a cluster: what each axis of a layout gets of it, and what links carry in a step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from simulator.errors import InfeasibleError, ScenarioError
from simulator.machine import hashing, traffic
from simulator.machine.channel import Channel
from simulator.machine.collectives.links import fabric as links
from simulator.machine.collectives.links import network_of
from simulator.machine.domains import Joined, across_islands, hosts_per_domain, scale_up
from simulator.machine.fabric import Fabric
from simulator.machine.fault import Fault, apart, slowest, weakened
from simulator.machine.hardware import Host
from simulator.machine.link_load import Carried, LinkLoad, classes
from simulator.machine.placement import Placement
from simulator.machine.torus import Sides, box, sides
from simulator.machine.traffic import Floats, Flows, Groups, Pattern, Whole
from simulator.sums import added
from simulator.units import BytesPerSecond, Count, Number, Share
from topologies import measures
from topologies.base import ENDS, Topology

if TYPE_CHECKING:
    import networkx as nx


MOST_HOSTS = 262_144
"""Hosts whose fabric is worked out, within seconds and a gigabyte: two million GPUs."""


@dataclass(frozen=True, kw_only=True)
class NetworkCalibration:
    """Measured over predicted, from a user's own nccl-tests logs."""

    scale_up: Number = 1.0
    scale_out: Number = 1.0
    latency: Number = 1.0


def fitted(topology: Topology, host: Host) -> tuple[Topology, Count]:
    """Return the topology with what it leaves to the ends, the host's NICs or its GPUs, and how many a host has."""
    if topology.scale_up:
        return topology.resolved(scale_up(host).bandwidth, 0.0), host.gpus
    return topology.resolved(host.nic_bandwidth or 1.0, network_of(host.fabric).switch_latency), host.nics


@lru_cache(maxsize=32)
def wired(topology: Topology, hosts: Count, nics: Count, faults: tuple[Fault, ...] = ()) -> Fabric:
    """Return the fabric that `hosts` with `nics` each make of a topology, folded, and what faults leave of it.

    Raises ValueError where the topology does not hold the hosts, ScenarioError where a fault is nowhere.
    """
    graph = topology.graph(hosts, nics, apart(faults))
    return Fabric(weakened(graph, faults) if faults else graph, hosts, adaptive=topology.routing == "adaptive")


class _Fullest(NamedTuple):
    slowest: BytesPerSecond
    """Rate of the slowest flow."""
    bottleneck: str
    tiers: tuple[tuple[str, Share], ...]
    """How full the fullest links of each tier are then."""


class FabricParts(NamedTuple):
    """How many parts a fabric has."""

    cables: Count
    switches: Count
    edge_switches: Count
    """Switches that hosts hang on; the others join switches."""
    hosts_of_one: Count
    """The most hosts that hang on one of these."""


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
        self.host, self.hosts, self.faults, self.luck = host, hosts, tuple(faults), luck
        self.calibration = calibration or NetworkCalibration()
        self.gpus = hosts * host.gpus
        self.scale_up_kind, self.scale_up_bandwidth, _ = scale_up(host)
        self.topology, self.nics = fitted(topology, host)
        if topology.scale_up:
            self.scale_up_bandwidth = self.topology.bandwidth
        self.hosts_per_domain = hosts if topology.scale_up else hosts_per_domain(host, hosts)
        self.one_domain = self.hosts_per_domain >= hosts
        """Whether scale-up links join all hosts, so that nothing has to go through NICs."""
        if hosts > MOST_HOSTS and not topology.scale_up:
            raise ScenarioError(
                f"cluster.hosts: a fabric of {hosts:,} hosts is too large to be worked out; {MOST_HOSTS:,} are the most"
            )
        if not self.one_domain and not host.nics * host.nic_bandwidth:
            raise ScenarioError(f"cluster.host: {host.name} has no NIC, so that {hosts} of them cannot work together")
        try:
            self.order = placement.order(hosts)
            self.fabric_hosts = placement.fabric_hosts(hosts)
            if hosts > 1 and not topology.scale_up and self.nics * host.nic_bandwidth:
                self._check()
        except ValueError as error:
            raise ScenarioError(f"cluster.topology: {error}") from None
        self._channels: dict[tuple[int, int], Channel] = {}

    def _check(self) -> None:
        """Raise InfeasibleError where faults leave no way between two hosts, ScenarioError where none ever was."""
        order = np.asarray(self.order)
        try:
            self.fabric.loads(Flows(np.full(len(order) - 1, order[0]), order[1:], np.ones(len(order) - 1)))
        except InfeasibleError as error:
            if not self.faults:
                raise ScenarioError(f"cluster.topology: {error}") from None
            raise InfeasibleError(f"fault {', '.join(map(str, self.faults))} cuts hosts off: {error}") from None

    @property
    def fabric(self) -> Fabric:
        """Return the fabric, folded, with its faults; networks of the same cluster share it."""
        return wired(self.topology, self.fabric_hosts, self.nics, self.faults)

    @property
    def slow(self) -> float:
        """Return the factor on compute time of the slowest host."""
        return slowest(self.faults)

    def graph(self) -> nx.Graph:
        """Return the fabric switch by switch, without faults."""
        return self.topology.graph(self.fabric_hosts, self.nics)

    def channel(self, size: int, stride: int = 1) -> Channel:
        """Return what one group of an axis gets while all its groups run: `size` ranks, `stride` apart."""
        if (size, stride) not in self._channels:
            self._channels[size, stride] = self._channel(size, stride)
        return self._channels[size, stride]

    def groups(self, size: int, stride: int, first: Whole | None = None) -> Groups:
        """Return the different groups of an axis: all of them, or those that start at the ranks `first`.

        Of groups that each sit on one host, the first stands for all.
        """
        first = traffic.starts(size, stride, self.gpus) if first is None else first
        return traffic.groups(
            first[:1] if self.host.gpus % (size * stride) == 0 else first,
            size,
            stride,
            gpus=self.gpus,
            gpus_per_host=self.host.gpus,
            hosts_per_domain=self.hosts_per_domain,
            order=np.asarray(self.order),
        )

    def hosts_behind(self, tier: str) -> Count | None:
        """Return the most hosts that only links of a tier join to the others; None where there is no such tier."""
        import networkx as nx

        joined = self.hosts > 1 and self.nics
        graph = wired(self.topology, self.fabric_hosts, self.nics).graph if joined else nx.Graph()
        without = [edge[:2] for edge in graph.edges(data="tier") if edge[2] == tier]
        if not without:
            return None
        left = graph.copy()  # a view counts its nodes anew for each node that it visits, up to networkx 3.3
        left.remove_edges_from(without)
        parts = nx.connected_components(left)
        return max(len({node[1] for node in part if node[0] in ENDS}) for part in parts)

    @cached_property
    def parts(self) -> FabricParts:
        """The cables and switches of the fabric; one host has the cables of its NICs, and the switch they end at."""
        if (self.hosts == 1 or not self.nics) and not self.topology.scale_up:
            return FabricParts(self.nics, 1, 1, 1)
        graph = wired(self.topology, self.fabric_hosts, self.nics).graph
        cables, switches = added(measures.cables(graph).values()), added(measures.switches(graph).values())
        return FabricParts(cables, switches, *measures.edge_switches(graph))

    def switch_of(self, host: Count) -> str:
        """Return the name of the switch that the first NIC of a host hangs on."""
        graph = wired(self.topology, self.fabric_hosts, self.nics).graph
        return "/".join(map(str, next(iter(graph["nic", host, 0]))))

    def loads(self, carried: Sequence[Carried]) -> tuple[LinkLoad, ...]:
        """Return what each class of links carries, scale-up first, then from the NICs up."""
        sent = [(c.channel, c.nbytes if c.channel.inside_host else c.scale_up_bytes) for c in carried]
        gpus = LinkLoad(
            name="scale-up",
            count=self.gpus,
            bandwidth=self.scale_up_bandwidth,
            mean_bytes=added(up for _, up in sent),
            peak_bytes=added(up * self.crowding(channel) for channel, up in sent),
        )
        if self.topology.scale_up or not self.nics:
            return (gpus,)
        nbytes = np.zeros(len(self.fabric.capacity))
        for one in carried:
            if not one.channel.inside_host:
                nbytes += one.nbytes * self.load(self.groups(one.channel.ranks, one.channel.stride), one.pattern)
        return (gpus, *classes(self.fabric, nbytes, self.topology.bandwidth))

    def load(self, groups: Groups, pattern: Pattern) -> Floats:
        """Return the bytes on each link for each byte that every GPU of the groups sends over its part of the NICs."""
        largest = groups.widest[2]
        if pattern == "exchange":
            return self.fabric.exchange(groups) * largest / _sent_out(groups)
        if pattern == "ring":
            return self.fabric.loads(groups.ring()) * largest
        return self.fabric.loads(groups.sends(back=pattern == "previous"))

    def crowding(self, channel: Channel) -> Number:
        """Return a GPU's links over those that a group can use: on a mesh, those to its own ranks."""
        pair = channel.scale_up_pair
        here = channel.ranks_per_host
        usable = links(str(channel.fabric)).usable(here, channel.scale_up_bandwidth, pair, channel.sides)
        return channel.scale_up_bandwidth / usable if usable > 0 else 1.0

    def _channel(self, size: int, stride: int) -> Channel:
        if size * stride > self.gpus or size < 1 or stride < 1:
            raise ScenarioError(f"an axis of {size} ranks, {stride} apart, needs more than {self.gpus} GPUs")
        groups = self.groups(size, stride)
        domains, _, largest = groups.widest
        joined = self._joined(size, stride)
        channel = Channel(
            ranks=size,
            stride=stride,
            ranks_per_host=largest,
            hosts=domains,
            scale_up_bandwidth=joined.bandwidth,
            scale_up_exchange=joined.exchange,
            scale_up_pair=self._pair(joined.kind),
            sides=self._sides(joined.kind, largest, stride),
            fabric=joined.kind,
            network=self.host.fabric,
            scale_up_factor=self.calibration.scale_up,
            scale_out_factor=self.calibration.scale_out,
            latency_factor=self.calibration.latency,
        )
        return channel if domains <= 1 else self._across(channel, groups)

    def _joined(self, size: int, stride: int) -> Joined:
        """Return what a group has of the links inside its hosts."""
        if self.host.scale_up.domain < min(self.host.gpus, size * stride) and not self.topology.scale_up:
            return across_islands(self.host, size, stride)
        return Joined(self.scale_up_kind, self.scale_up_bandwidth)

    def _pair(self, name: str) -> BytesPerSecond | None:
        """Return what two GPUs of a mesh have between them; a domain beyond the reach of its links has a switch."""
        pair, shape = self.host.gpu.scale_up_pair, links(name).shape
        if pair is None or shape == "switch":
            return None
        most = 2 * self.scale_up_bandwidth / pair
        return pair if shape == "torus" or self.host.scale_up.domain <= most else None

    def _sides(self, name: str, ranks: Count, stride: Count) -> Sides:
        """Return the box that ranks of a group fill in their domain, where that is a torus."""
        pair, torus = self._pair(name), links(name)
        if pair is None or torus.shape != "torus" or ranks * stride > self._chips:
            return ()
        dimensions = max(1, round(self.scale_up_bandwidth / pair / 2))
        return sides(ranks, stride, box(self._chips, dimensions), torus.wraps, cubes=torus.cubes)

    @property
    def _chips(self) -> Count:
        """The GPUs of a domain that the job has."""
        return min(self.hosts_per_domain, self.hosts) * self.host.gpus

    def _across(self, channel: Channel, groups: Groups) -> Channel:
        """Return the channel with what the fullest links leave of the network for rings, and for exchanges."""
        here = channel.ranks_per_host
        ring, exchange = (self._fullest(self.load(groups, pattern)) for pattern in ("ring", "exchange"))
        return replace(
            channel,
            scale_out_bandwidth=ring.slowest * here,
            exchange_bandwidth=exchange.slowest * here,
            tiers=ring.tiers,
            exchange_tiers=exchange.tiers,
            bottleneck=ring.bottleneck,
            latency=2 * self.host.nic_latency + self.fabric.latency(groups.ring()),
        )

    def _fullest(self, load: Floats) -> _Fullest:
        """Return the rate of the slowest flow, the tier that sets it, and how full the others are.

        The tier is the lowest of those that are equally full.

        Equal flows rise together until the first link is full, so that the slowest of a max-min allocation gets the
        least of capacity over load of all links; a collective goes at its pace.
        """
        used = np.flatnonzero(load > 1e-12 * load.max())
        rates = self.fabric.capacity[used] / self.hashed(load)[used]
        first = int(np.argmax(rates <= rates.min() * (1 + 1e-12)))
        tiers: dict[str, Share] = {}
        for place, rate in zip(used.tolist(), (rates.min() / rates).tolist(), strict=True):
            tier = self.fabric.tiers[place]
            tiers[tier] = max(tiers.get(tier, 0.0), rate)
        return _Fullest(float(rates[first]), self.fabric.tiers[used[first]], tuple(tiers.items()))

    def hashed(self, load: Floats) -> Floats:
        """Return a load that static routing makes heavier by what collisions of hashed flows cost on each link.

        Every GPU's part of the NICs sends so many flows as it has NICs.
        """
        if self.topology.routing == "adaptive":
            return load
        flows, cost = load * self.nics / self.host.gpus / self.fabric.cables, np.ones(len(load))
        for link in np.flatnonzero(load).tolist():
            if found := self._choices.get(self.fabric.tiers[link]):
                alike = max(1, round(flows[link] * found.cables))
                cost[link] = hashing.efficiency(alike, found.links, self.topology.queue_pairs, self.luck)
        return load / cost

    @cached_property
    def _choices(self) -> dict[str, hashing.Choices]:
        graph = wired(self.topology, self.fabric_hosts, self.nics).graph
        return hashing.choices(graph, self.topology.bandwidth)


def _sent_out(groups: Groups) -> float:
    """Return what of an exchange leaves the fullest domain of a group, in buffers of one rank."""
    _, ranks, largest = groups.widest
    return largest * (ranks - largest) / ranks
