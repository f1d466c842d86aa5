"""Which algorithm and protocol run a collective: the one that the library's cost model expects to end first."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from simulator.errors import ScenarioError
from simulator.kinds import members
from simulator.machine.channel import Channel
from simulator.machine.collectives.base import Collective, Operation, Plan, bus_factor
from simulator.units import Bytes, BytesPerSecond, Seconds


class Choice(NamedTuple):
    way: Collective
    plan: Plan


def algorithms() -> dict[str, Collective]:
    """Return one of each algorithm by its kind; what was chosen among others is forgotten where one has come."""
    found = members(Collective)
    if found != _KNOWN:
        _KNOWN.clear()
        _KNOWN.update(found)
        for chosen in (time, wire_bytes, scale_up_bytes, choose, choices):
            chosen.cache_clear()
    return {kind: cls() for kind, cls in found.items()}


_KNOWN: dict[str, type[Collective]] = {}
"""The algorithms that there were when one was last asked for."""


@lru_cache(maxsize=65536)
def time(operation: Operation, nbytes: Bytes, channel: Channel, algorithm: str = "auto") -> Seconds:
    """Return the time of `operation` on a buffer of `nbytes`, the whole buffer of all ranks.

    A group of one communicates nothing. A pinned `algorithm` is used for the operations it knows; the others
    are chosen.
    """
    if channel.ranks <= 1 or nbytes <= 0:
        return 0.0
    return choose(operation, nbytes, channel, algorithm).plan.time(nbytes)


@lru_cache(maxsize=65536)
def wire_bytes(operation: Operation, nbytes: Bytes, channel: Channel, algorithm: str = "auto") -> Bytes:
    """Return the bytes through the NIC share of each GPU of the busiest host."""
    if channel.ranks <= 1 or nbytes <= 0 or channel.inside_host:
        return 0.0
    way = choose(operation, nbytes, channel, algorithm).way
    return way.out_bytes(operation, nbytes, channel) / channel.ranks_per_host


@lru_cache(maxsize=65536)
def scale_up_bytes(operation: Operation, nbytes: Bytes, channel: Channel, algorithm: str = "auto") -> Bytes:
    """Return the bytes over the scale-up links of the busiest GPU."""
    if channel.ranks <= 1 or nbytes <= 0:
        return 0.0
    return choose(operation, nbytes, channel, algorithm).way.up_bytes(operation, nbytes, channel)


def bus_bandwidth(operation: Operation, nbytes: Bytes, channel: Channel, algorithm: str = "auto") -> BytesPerSecond:
    """Return the bus bandwidth as nccl-tests prints it."""
    return nbytes * bus_factor(operation, channel.ranks) / time(operation, nbytes, channel, algorithm)


@lru_cache(maxsize=65536)
def choose(operation: Operation, nbytes: Bytes, channel: Channel, algorithm: str = "auto") -> Choice:
    """Return the algorithm and protocol that are expected to end first, of the pinned algorithm if it can run."""
    return min(choices(operation, channel, algorithm), key=lambda choice: choice.plan.expected(nbytes))


@lru_cache(maxsize=4096)
def choices(operation: Operation, channel: Channel, algorithm: str = "auto") -> tuple[Choice, ...]:
    """Return all that may run `operation` on `channel`."""
    ways = [way for way in algorithms().values() if way.automatic and way.supports(operation, channel)]
    if algorithm != "auto":
        if algorithm not in algorithms():
            raise ScenarioError(f"no collective algorithm named {algorithm!r}; one of {', '.join(algorithms())}")
        if (pinned := algorithms()[algorithm]).supports(operation, channel):
            ways = [pinned]
    return tuple(Choice(way, plan) for way in ways for plan in way.plans(operation, channel))
