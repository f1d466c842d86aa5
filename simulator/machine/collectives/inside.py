"""What NCCL attains inside one NVLink domain, by generation of links: fitted on nccl-tests from 512 B to 512 MiB.

A ring of k steps that sends V bytes takes, by protocol,

    LL      start + k step + V / rate + what starting more channels adds, up to ``channels``
    LL128   start + k step + V / rate
    Simple  start + hypot(transfer, k step), transfer = V / rate + one part turned + a pipeline's fill

LL begins on one channel and is given more as the buffer grows. With Simple a step's handshake overlaps with the
transfer of its slice, so that each step takes the longer of both: hence the hypotenuse. A rank works on one part beside
no send (``turn``): in an all-gather it copies its own part to the output. Two ranks reach ``pair`` of what more of them
reach. An all-to-all starts once and pays a message for each peer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from math import exp, log
from typing import Any

from simulator.units import Bytes, BytesPerSecond, Number, Seconds, Share, parse

Named = tuple[tuple[str, float], ...]
"""Numbers by protocol or operation."""


@dataclass(frozen=True, kw_only=True)
class Inside:
    """Constants of one generation inside a domain; shares are of the data sheet's bandwidth of a GPU."""

    start: Named
    """Latency before the first step, by protocol."""
    step: Named
    """Latency of one step of a ring, by protocol."""
    rate: Named
    """What LL and LL128 send; with Simple a ring has its generation's ``ring``."""
    channels: Seconds
    """What starting all channels adds to LL at most."""
    channel: BytesPerSecond
    """Rate of LL on one channel, before it gets more."""
    pair: Share
    """What two ranks reach of a ring's rate."""
    turn: Named
    """Rate at which a rank works on one part beside no send, by operation; no time where left out."""
    fill: Bytes
    """Bytes in flight before a ring runs at its rate."""
    multicast_fill: Bytes
    """The same of NVLink SHARP."""
    expected: Share
    """What NCCL expects of LL128 over a ring with Simple, when it chooses."""
    peer: Named
    """Latency of one message of an all-to-all, by protocol."""
    exchange_start: Seconds
    """Latency of an all-to-all with Simple before its first message."""
    exchange_rate: Share
    """What LL sends in an all-to-all."""
    exchange: Number
    """Rate of the sends of an all-to-all over ``all_to_all``, the bus of eight ranks that also copy their own part."""
    exchange_fill: Bytes
    source: str = ""

    def of(self, name: str, key: str) -> float | None:
        """Return an entry of one of the tables, such as the step of a protocol."""
        return _entries(getattr(self, name)).get(key)


UNITS = {
    "start": "s",
    "step": "s",
    "channels": "s",
    "channel": "B/s",
    "turn": "B/s",
    "fill": "B",
    "multicast_fill": "B",
    "peer": "s",
    "exchange_start": "s",
    "exchange_fill": "B",
}


def read(entry: Mapping[str, Any]) -> Inside:
    """Return the constants of an entry ``inside`` of ``links.yaml``."""
    values = {name: value for name, value in entry.items() if name != "source"}
    return Inside(
        **{name: _read(UNITS.get(name), value) for name, value in values.items()}, source=entry.get("source", "")
    )


def mean(several: Sequence[Inside]) -> Inside:
    """Return the geometric means of several generations: what to expect of one that nobody measured."""
    found: dict[str, Any] = {}
    for name in (field.name for field in fields(Inside) if field.name != "source"):
        first = getattr(several[0], name)
        if isinstance(first, tuple):
            keys = [key for key, _ in first if all(one.of(name, key) for one in several)]
            found[name] = tuple((key, _mean([one.of(name, key) or 0.0 for one in several])) for key in keys)
        else:
            found[name] = _mean([getattr(one, name) for one in several])
    return Inside(**found)


def _mean(values: Sequence[float]) -> float:
    return exp(sum(map(log, values)) / len(values))


@cache
def _entries(table: Named) -> dict[str, float]:
    return dict(table)


def _read(unit: str | None, value: Any) -> Any:
    if isinstance(value, dict):
        return tuple((key, _read(unit, one)) for key, one in value.items())
    return parse(value, unit) if unit else float(value)
