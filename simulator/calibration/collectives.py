"""What collectives attain of links, derived again without the system that is to be predicted.

A system is a generation of scale-up links as one source measured it. Its shares of the data sheet's bandwidth become
those that other sources measured on the same generation; where there are none, what NCCL's own model counts on, and
where that says nothing the mean of the other generations. Latencies that its source measured become those of NCCL's
model, of InfiniBand between hosts; what it measured inside a domain becomes the mean of the other generations. A whole
generation can be left out too, as if nobody had measured it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from simulator.errors import ForetrainError
from simulator.machine.channel import Channel
from simulator.machine.collectives import choose, nccl
from simulator.machine.collectives.base import bus_factor
from simulator.machine.collectives.links import ScaleOutLinks, ScaleUpLinks, fabric, measured_inside, network_of
from simulator.units import Number, Share
from simulator.validation.expression import InexpressibleError
from simulator.validation.files import Table
from simulator.validation.lines import Line
from simulator.validation.row import Row
from simulator.validation.suites.collectives import Collectives, question, source
from simulator.validation.suites.kernels import gpu_of

if TYPE_CHECKING:
    from simulator.scenario import Scenario
    from simulator.validation.predict import Prediction

LARGE = 512 * 2.0**20
"""Bytes from which a collective is all bandwidth."""
SHARES = {
    "ring": ("ring",),
    "tree": ("ring",),
    "nvls": ("multicast", "multicast_bus"),
    "all-to-all": ("all_to_all",),
    "point-to-point": ("peer",),
}
"""The shares that decide the time of an algorithm inside a host."""
SHARE_NAMES = ("ring", "peer", "all_to_all", "multicast", "multicast_bus")
HOST = 8
"""GPUs of the hosts that NCCL's efficiency of NVLS is from."""
NO_LATENCY = "infiniband"
"""The network whose latencies are NCCL's own."""


class System(NamedTuple):
    links: str
    source: str


@dataclass(frozen=True)
class Sample:
    """What a large collective inside a host says of the shares that decide it."""

    system: System
    shares: tuple[str, ...]
    factor: Number
    """Predicted over measured time: by so much the share is larger."""


def system(row: Row) -> System | None:
    """Return what measured the row; None where the row says too little."""
    try:
        channel = question(row, gpu_of(row)).channel
    except (InexpressibleError, ForetrainError, KeyError):
        return None
    return System(str(channel.fabric), source(row))


def left_out(tables: Sequence[Table], base: Sequence[Table], wanted: str) -> tuple[Line, ...]:
    """Return the lines of `tables`: of every system (`each`) or of one generation, predicted without itself.

    `base` are the measurements that shares are derived from.
    """
    known = list(samples(row for table in base for row in table.rows))
    rows = [(row, found) for table in tables for row in table.rows if (found := system(row))]
    if wanted == "each":
        chosen, apart = [row for row, _ in rows], lambda mine, other: mine == other
    else:
        chosen, apart = (
            [row for row, mine in rows if mine.links == wanted],
            lambda mine, other: mine.links == other.links,
        )
    derived = {mine: without(mine, known, apart) for _, mine in rows}

    def adapted(row: Row, channel: Channel) -> Channel:
        mine = system(row)
        assert mine is not None
        whole = wanted != "each"
        return replace(channel, fabric=derived[mine], network=network_without(str(channel.network), mine, whole))

    return Collectives(adapted).lines(chosen, _no_scenario)


def samples(rows: Iterable[Row]) -> Iterable[Sample]:
    """Yield what large collectives inside a host say of the shares."""
    for row in rows:
        mine = system(row)
        if mine is None or row.whole("nodes") != 1:
            continue
        asked = question(row, gpu_of(row))
        (line,) = Collectives().lines([row], _no_scenario)
        if asked.nbytes < LARGE or not line.scored or not line.measured or not line.predicted:
            continue
        way = choose(asked.operation, asked.nbytes, asked.channel, asked.algorithm).way.kind
        ratio = line.predicted / line.measured
        yield Sample(mine, SHARES.get(way, ()), ratio if line.quantity == "time_us" else 1 / ratio)


def without(mine: System, known: Sequence[Sample], apart: Callable[[System, System], bool]) -> ScaleUpLinks:
    """Return the constants of a system's links from the samples of others; `apart` says which it may not see."""
    own = fabric(mine.links)
    kept = [sample for sample in known if not apart(mine, sample.system)]
    found = ((name, _share(name, own, mine.links, kept)) for name in SHARE_NAMES if getattr(own, name) is not None)
    shares = {name: value for name, value in found if value is not None}
    unseen: dict[str, Any] = {}
    if apart(mine, System(mine.links, own.latency_source)):
        unseen |= {"step": (), "latencies": ()}
    if apart(mine, System(mine.links, own.turn_source)):
        unseen["turn"] = None
    if own.inside and apart(mine, System(mine.links, own.inside.source)):
        unseen["inside"] = measured_inside(apart_from=mine.links)
    return replace(own, **shares, **unseen)  # type: ignore[arg-type]


def nccls_own(links: ScaleUpLinks) -> dict[str, Share]:
    """Return the shares that NCCL's cost model counts on, of links that it knows.

    It expects rings at its rate of a link (topo.h), and NVLS among n GPUs at (n-1)/n of its efficiency times that
    (tuning.cc): (n+1)/n of the buffer over each link mean a share of (1 - 1/n^2), with the eight of its hosts.
    """
    if links.link is None:
        return {}
    ring = nccl.link_rate(links.nccl) / links.link
    multicast = ring * nccl.nvls_efficiency(links.nccl) * (1 - 1 / HOST**2)
    return {
        "ring": ring,
        "multicast": multicast,
        "multicast_bus": multicast * bus_factor("all_reduce", HOST) * HOST / (HOST + 1),
    }


def network_without(name: str, mine: System, whole: bool) -> ScaleOutLinks:
    """Return the constants of a network, with NCCL's own latency where it was measured on this system."""
    own = network_of(name)
    return replace(own, latency=network_of(NO_LATENCY).latency) if whole or own.latency_source == mine.source else own


def _share(name: str, own: ScaleUpLinks, links: str, known: Sequence[Sample]) -> Share | None:
    """Return a share by the other systems of a generation, else NCCL's, else the mean of the other generations."""
    of: dict[str, dict[System, list[float]]] = {}
    for sample in known:
        if name in sample.shares:
            of.setdefault(sample.system.links, {}).setdefault(sample.system, []).append(sample.factor)
    by_links: dict[str, Share] = {
        other: getattr(fabric(other), name) * float(np.mean([np.median(factors) for factors in systems.values()]))
        for other, systems in of.items()
    }
    if links in by_links:
        return by_links[links]
    if (counted_on := nccls_own(own).get(name)) is not None:
        return counted_on
    return float(np.mean(list(by_links.values()))) if by_links else None


def _no_scenario(_: Scenario) -> Prediction:
    raise AssertionError("collectives are predicted without a scenario")
