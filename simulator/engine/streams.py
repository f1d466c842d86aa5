"""Plays a program on its streams: how long it takes, and what the compute stream waited for.

A stream does one thing at a time, in the order of issue. Compute beside an exchange runs on the SMs that the
exchange leaves (NCCL's channels are thread blocks), so it is slower for as long as the exchange runs; an exchange that
takes more than SMs says how much.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from simulator.units import Seconds, Share


class Item(NamedTuple):
    """An operation with its duration."""

    stream: str
    """``compute`` or the axis of an exchange."""
    seconds: Seconds
    waits: tuple[int, ...] = ()
    part: str = "compute"
    """The account that a compute item's own time goes to."""
    taken: Share | None = None
    """Share of its rate that compute loses beside this exchange, where it is not the usual one."""


class Play(NamedTuple):
    """What a program took; `parts` sum to `seconds`."""

    seconds: Seconds
    parts: dict[str, Seconds]
    """By account: compute and recompute as they ran, each axis as far as compute waited for it."""
    busy: dict[str, Seconds]
    """Total time of each stream, hidden or not."""


def play(items: Iterable[Item], communication_sms: Share = 0.0) -> Play:
    """Return how the items unfold.

    >>> gather, product = Item("tensor", 1.0), Item("compute", 3.0)
    >>> play([gather, product]).seconds, play([gather, product._replace(waits=(0,))]).seconds
    (3.0, 4.0)
    """
    free: dict[str, float] = {}
    ends: list[float] = []
    parts: dict[str, float] = {}
    busy: dict[str, float] = {}
    running: list[tuple[float, float, Share]] = []
    streams: list[str] = []
    now = 0.0
    for stream, seconds, waits, part, taken in items:
        if stream != "compute":
            start = max(free.get(stream, 0.0), now)
            for position in waits:
                start = max(start, ends[position])
            end = start + seconds
            if seconds > 0:
                running.append((start, end, communication_sms if taken is None else taken))
            free[stream] = end
        else:
            start, blamed = now, ""
            for position in waits:
                if ends[position] > start:
                    start, blamed = ends[position], streams[position]
            if start > now:
                parts[blamed] = parts.get(blamed, 0.0) + start - now
            end = _slowed(start, seconds, running) if running else start + seconds
            running = [interval for interval in running if interval[1] > end]
            parts[part] = parts.get(part, 0.0) + end - start
            now = end
        busy[stream] = busy.get(stream, 0.0) + seconds
        streams.append(stream)
        ends.append(end)
    last = max(free, key=lambda stream: free[stream], default="")
    if last and free[last] > now:
        parts[last] = parts.get(last, 0.0) + free[last] - now
        now = free[last]
    return Play(now, parts, busy)


def _slowed(start: float, seconds: float, running: list[tuple[float, float, Share]]) -> float:
    """Return when compute that starts at `start` ends, with less of the GPU while an exchange runs."""
    left, now = seconds, start
    for begin, end, taken in sorted(running):
        if end <= now:
            continue
        if begin > now:
            quiet = min(left, begin - now)
            now, left = now + quiet, left - quiet
            if left <= 0:
                return now
        beside = (end - now) * (1 - taken)
        if beside >= left:
            return now + left / (1 - taken)
        now, left = end, left - beside
    return now + left
