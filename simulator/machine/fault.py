"""A sick fabric: what a degraded NIC, link, leaf, spine or host leaves of the bandwidth.

Collectives divide their traffic over rails and rings beforehand, so that one slow NIC or rail sets the pace of
all. What is dead (bandwidth 0) is left out by the software, which spreads its traffic over the rest of its
kind; a spine or an uplink that is slow costs its share under adaptive routing and sets the pace under static.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from simulator.errors import InfeasibleError, ScenarioError
from simulator.units import Count, Number, Share
from topologies.base import Tier, Topology


@dataclass(frozen=True, kw_only=True)
class Fault:
    """Exactly one place, and what is left of it."""

    link: tuple[str, str] | None = None
    """Two neighbours, such as ``[leaf/3, spine/1]`` or ``[host/7, leaf/3]``."""
    nic: str | None = None
    """``HOST/NIC``."""
    leaf: Count | None = None
    """Number of a leaf switch."""
    spine: Count | None = None
    """Number of a spine switch."""
    host: Count | None = None
    """Number of a host."""
    bandwidth: Share = 1.0
    """Share of the bandwidth that is left; 0 is dead."""
    slow: Number = 1.0
    """Factor on the time of the GPUs of a host."""

    def __str__(self) -> str:
        if self.link is not None:
            return "link " + " - ".join(self.link)
        name = next((n for n in ("nic", "leaf", "spine", "host") if getattr(self, n) is not None), "nothing")
        return f"{name} {getattr(self, name, '')}"

    def names(self) -> tuple[str, ...]:
        """Return the nodes that it is about, as an edge list names them."""
        if self.link is not None:
            return self.link
        if self.nic is not None:
            return (f"nic/{self.nic}",)
        if self.host is not None:
            return (f"nic/{self.host}",)
        return (f"leaf/{self.leaf}",) if self.leaf is not None else (f"spine/{self.spine}",)


Place = tuple[str, tuple[int, ...]]
Factors = dict[Place, float]
"""What is left of a unit of a tier, such as ("leaf", (unit,)), or of a link, ("link", (one, other))."""


def factors(faults: Sequence[Fault], topology: Topology, tiers: Sequence[Tier], hosts: int) -> Factors:
    """Return what the faults leave of the tiers of a fabric."""
    left: Factors = {}
    for fault in faults:
        for place, share in _effect(fault, topology, tiers, hosts):
            left[place] = left.get(place, 1.0) * share
    return left


def around(
    faults: Sequence[Fault], topology: Topology, hosts: int, gpus_per_host: int, nics: int
) -> tuple[tuple[Fault, ...], Topology]:
    """Return the faults that are left, and the fabric without what is dead, where routes are found on it anew."""
    left = []
    for fault in faults:
        if fault.bandwidth > 0 or topology.at(fault.names()[0]) is None:
            left.append(fault)
            continue
        _named(fault, topology)
        topology = topology.without(*fault.names())
        try:
            topology.graph(hosts, gpus_per_host, nics)
        except ValueError as error:
            raise InfeasibleError(f"fault {fault} cuts hosts off: {error}") from None
    return tuple(left), topology


def slowest(faults: Sequence[Fault]) -> float:
    """Return the factor on compute time of the slowest host."""
    return max((fault.slow for fault in faults), default=1.0)


def _effect(fault: Fault, topology: Topology, tiers: Sequence[Tier], hosts: int) -> Iterable[tuple[Place, float]]:
    by_name = {tier.name: tier for tier in tiers}
    static = topology.routing == "static"
    if fault.bandwidth >= 1.0:
        return
    if not tiers and topology.at(fault.names()[0]) is not None:
        for at in _named(fault, topology):
            yield ("link", at), fault.bandwidth
        return
    if fault.host is not None:
        yield ("nic", (_within(fault.host, hosts, "host"),)), _alive(fault, fault.bandwidth)
    elif fault.nic is not None:
        name, _, nic = fault.nic.partition("/")
        host, rails = _within(_number(name, fault), hosts, "host"), by_name["nic"].rails if "nic" in by_name else 1
        _within(_number(nic or "0", fault), rails, "nic")
        yield ("nic", (host,)), _of_parts(fault, rails, True)
    elif fault.leaf is not None:
        tier = by_name.get("leaf") or _tier(by_name, "nic", fault)._replace(hosts=hosts)
        unit = _within(fault.leaf // tier.rails, -(-hosts // tier.hosts), "unit of leaf")
        share = _of_parts(fault, tier.rails, True)
        yield ("leaf", (unit,)), share
        for host in range(unit * tier.hosts, min((unit + 1) * tier.hosts, hosts)):
            yield ("nic", (host,)), share
    elif fault.spine is not None:
        tier = _tier(by_name, "leaf", fault)
        pods = by_name.get("spine")
        per_pod = tier.paths * (pods.rails if pods else 1)
        pod_hosts = pods.hosts if pods else hosts
        pod = _within(fault.spine, per_pod * -(-hosts // pod_hosts), "spine") // per_pod
        share = _of_parts(fault, tier.paths, static)
        for unit in range(pod * pod_hosts // tier.hosts, -(-min((pod + 1) * pod_hosts, hosts) // tier.hosts)):
            yield ("leaf", (unit,)), share
        if pods:
            yield ("spine", (pod,)), share
    elif fault.link is not None:
        yield from _link(fault, topology, by_name, hosts)


def _named(fault: Fault, topology: Topology) -> Iterable[tuple[int, int]]:
    """Return the links, both ways, of a fault in a fabric whose nodes have names."""
    found = topology.at(fault.names()[0])
    if fault.link is not None:
        pair = topology.link(*fault.link)
        found = None if pair is None else (pair, pair[::-1])
    if not found:
        raise ScenarioError(f"fault {fault}: there is no such {'link' if fault.link else 'node'}")
    return found


def _link(fault: Fault, topology: Topology, by_name: dict[str, Tier], hosts: int) -> Iterable[tuple[Place, float]]:
    assert fault.link is not None
    static = topology.routing == "static"
    if not by_name:
        pair = topology.link(*fault.link)
        if pair is None:
            raise ScenarioError(f"fault {fault}: there is no such link")
        for at in (pair, pair[::-1]):
            yield ("link", at), _alive(fault, fault.bandwidth)
        return
    names = dict(name.partition("/")[::2] for name in fault.link)
    if "host" in names or "nic" in names:
        host = _number((names.get("host") or names["nic"]).partition("/")[0], fault)
        yield ("nic", (_within(host, hosts, "host"),)), _of_parts(fault, by_name["nic"].rails, True)
    elif set(names) == {"leaf", "spine"}:
        tier = _tier(by_name, "leaf", fault)
        yield ("leaf", (_number(names["leaf"], fault) // tier.rails,)), _of_parts(fault, tier.paths, static)
    elif set(names) == {"spine", "core"}:
        tier, leaf = _tier(by_name, "spine", fault), _tier(by_name, "leaf", fault)
        pod = _number(names["spine"], fault) // (leaf.paths * tier.rails)
        yield ("spine", (pod,)), _of_parts(fault, tier.paths, static)
    else:
        raise ScenarioError(f"fault {fault}: expected two neighbours among host/N, leaf/N, spine/N, core/N")


def _of_parts(fault: Fault, parts: int, slowest_decides: bool) -> float:
    """Return what is left of `parts` equal parts of which one is sick."""
    if fault.bandwidth == 0.0:
        return _alive(fault, (parts - 1) / parts)
    return fault.bandwidth if slowest_decides else (parts - 1 + fault.bandwidth) / parts


def _alive(fault: Fault, share: float) -> float:
    if share <= 0:
        raise InfeasibleError(f"fault {fault} cuts hosts off: nothing else carries their traffic")
    return share


def _tier(by_name: dict[str, Tier], name: str, fault: Fault) -> Tier:
    if name not in by_name:
        raise ScenarioError(f"fault {fault}: this topology has no {'spines' if name != 'nic' else 'NICs'} there")
    return by_name[name]


def _number(text: str, fault: Fault) -> int:
    if not text.isdigit():
        raise ScenarioError(f"fault {fault}: expected a number, as in host/3, found {text!r}")
    return int(text)


def _within(number: int, count: int, name: str) -> int:
    if number >= count:
        raise ScenarioError(f"fault: {name} {number} does not exist; there are {count}, numbered from 0")
    return number
