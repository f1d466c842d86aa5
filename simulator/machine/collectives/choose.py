"""Which algorithm runs a collective, and its time: the least of what each would take, as NCCL chooses."""

from __future__ import annotations

from functools import cache, lru_cache

from simulator.errors import ScenarioError
from simulator.kinds import kinds
from simulator.machine.channel import Channel
from simulator.machine.collectives.base import Collective, Operation
from simulator.units import Bytes, Seconds


@cache
def algorithms() -> dict[str, Collective]:
    """Return one of each algorithm by its kind."""
    return {kind: cls() for kind, cls in kinds("simulator.machine.collectives", Collective).items()}


@lru_cache(maxsize=65536)
def time(
    operation: Operation, nbytes: Bytes, channel: Channel, algorithm: str = "auto", dtype_bytes: int = 2
) -> Seconds:
    """Return the time of `operation` on a buffer of `nbytes`, the whole buffer of all ranks.

    A group of one communicates nothing. A pinned `algorithm` is used for the operations it knows; the others
    are chosen.
    """
    if channel.ranks <= 1 or nbytes <= 0:
        return 0.0
    return choose(operation, nbytes, channel, algorithm).time(operation, nbytes, channel)


@lru_cache(maxsize=65536)
def wire_bytes(operation: Operation, nbytes: Bytes, channel: Channel, algorithm: str = "auto") -> Bytes:
    """Return the bytes that the busiest GPU of the group sends."""
    if channel.ranks <= 1 or nbytes <= 0:
        return 0.0
    return choose(operation, nbytes, channel, algorithm).wire_bytes(operation, nbytes, channel)


@lru_cache(maxsize=65536)
def choose(operation: Operation, nbytes: Bytes, channel: Channel, algorithm: str = "auto") -> Collective:
    """Return the algorithm that finishes first, or the pinned one where it can run."""
    if algorithm != "auto":
        if algorithm not in algorithms():
            raise ScenarioError(f"no collective algorithm named {algorithm!r}; one of {', '.join(algorithms())}")
        if (pinned := algorithms()[algorithm]).supports(operation, channel):
            return pinned
    able = [way for way in algorithms().values() if way.supports(operation, channel)]
    return min(able, key=lambda way: way.time(operation, nbytes, channel))
