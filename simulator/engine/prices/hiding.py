"""How fast links must be for more bandwidth to be no use to what an axis sends.

The step is timed again with the links of one axis faster or slower. Enough is the bandwidth from which the step is
within 1% of the one with endless bandwidth: what is not beside compute is still exposed there, and so is latency.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import cache

from simulator.engine.prices.assembly import Assembly
from simulator.engine.prices.link_traffic import carried
from simulator.engine.step import stage_clocks
from simulator.machine.channel import Channel
from simulator.machine.link_load import Carried
from simulator.units import Bytes, BytesPerSecond, Count, Number, Seconds, Share

AXES = {
    "tensor": ("tensor",),
    "context": ("context", "context_heads", "context_tokens"),
    "expert": ("expert", "expert_tensor"),
    "pipeline": ("pipeline",),
    "data": ("shard", "replicate", "expert_data", "expert_replicate"),
}
"""Parts of a step, and the axes whose transfers they are."""
TOLERANCE: Share = 0.01
MOST: Number = 64.0
"""Bandwidth is tried up to so many times what it is, and down to as much less."""
ENDLESS: Number = 1e6
NOTCHES: Count = 128
PRECISION: Number = MOST ** (1 / NOTCHES)
"""A step of 3% from one factor that is tried to the next."""
LARGEST = 20_000
"""Tasks of a step beyond which it is not timed again."""


@dataclass(frozen=True, kw_only=True)
class Hiding:
    """What an axis sends, and from what bandwidth on more is no use."""

    part: str
    links: str
    """The class of links that limits it."""
    nbytes: Bytes
    """Of one GPU in a step, through its share of those links."""
    bandwidth: BytesPerSecond
    """Of that share now, shared with the groups that run at once."""
    hidden_at: BytesPerSecond | None = None
    """None where 64 times the bandwidth is not enough, or nobody tried."""


def hiding(assembly: Assembly) -> tuple[Hiding, ...]:
    """Return what each axis would need, in the order of the parts of a step."""
    sent = carried(assembly)
    step = assembly.step()
    small = 2 * step.microbatches * len(step.chunks) <= LARGEST
    found = []
    for part, axes in AXES.items():
        names = [name for axis in axes for name in (axis, f"{axis} exchange") if name in sent]
        those = {name: sent[name] for name in names}
        if those:
            found.append(_hiding(part, those, _needed(assembly, set(axes)) if small else None))
    return tuple(found)


def _hiding(part: str, sent: Mapping[str, Carried], needed: Number | None) -> Hiding:
    most = max(sent.values(), key=lambda one: one.nbytes)
    channel = most.channel
    width = channel.scale_up_bandwidth
    if not channel.inside_host:
        width = channel.scale_out_bandwidth / channel.ranks_per_host
        if most.pattern == "exchange":
            width = channel.exchange_bandwidth / channel.ranks_per_host
    return Hiding(
        part=part,
        links=channel.bottleneck,
        nbytes=most.nbytes,
        bandwidth=width,
        hidden_at=None if needed is None else needed * width,
    )


def _needed(assembly: Assembly, axes: Collection[str]) -> Number | None:
    """Return the least factor on the bandwidth, in steps of `PRECISION`, with which the step is good enough.

    None where none is. Transfers take longer in proportion to 1 / factor, so that a straight line between a factor that
    is too low and one that is enough tells about where the least one lies.
    """

    @cache
    def seconds(notch: int) -> Seconds:
        return _seconds(assembly, axes, PRECISION**notch)

    enough = (1 + TOLERANCE) * _seconds(assembly, axes, ENDLESS)
    low, high = (-NOTCHES, 0) if seconds(0) <= enough else (0, NOTCHES)
    if high == NOTCHES and seconds(high) > enough:
        return None
    while high - low > 1:
        slow, fast = PRECISION**-low, PRECISION**-high
        share = (enough - seconds(high)) / (seconds(low) - seconds(high)) if seconds(low) > seconds(high) else 0.5
        guess = math.ceil(-math.log(fast + share * (slow - fast), PRECISION))
        for notch in (guess, guess - 1, (low + high) // 2):
            if low < notch < high:
                low, high = (low, notch) if seconds(notch) <= enough else (notch, high)
    return PRECISION**high


def _seconds(assembly: Assembly, axes: Collection[str], factor: Number) -> Seconds:
    """Return the step with the links of some axes so many times as fast."""
    channels = {
        name: faster(channel, factor) if name in axes else channel
        for name, channel in assembly.durations.channels.items()
    }
    return stage_clocks.time(with_channels(assembly, channels).step()).seconds


def with_channels(assembly: Assembly, channels: Mapping[str, Channel]) -> Assembly:
    """Return the assembly of the same step over other channels."""
    return Assembly(assembly.replica, assembly.durations.over(channels), assembly.copies.host)


def faster(channel: Channel, factor: Number) -> Channel:
    """Return the channel with the links that it is named after so many times as fast."""
    if channel.inside_host:
        pair = None if channel.scale_up_pair is None else factor * channel.scale_up_pair
        return replace(channel, scale_up_bandwidth=factor * channel.scale_up_bandwidth, scale_up_pair=pair)
    return replace(
        channel,
        scale_out_bandwidth=factor * channel.scale_out_bandwidth,
        exchange_bandwidth=factor * channel.exchange_bandwidth,
    )
