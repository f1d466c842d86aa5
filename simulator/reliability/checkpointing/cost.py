"""What a save costs: how long training stops for it, and when it can be used.

A blocking save stops training until all bytes are on storage. An asynchronous one stops it until every GPU has
copied its part to the host's memory, at least the time that all ranks need to agree on a save. Storage has a
bandwidth of its own, and hosts can be slower together than it.
"""

from __future__ import annotations

from dataclasses import replace

from simulator.reliability.checkpointing.base import CheckpointPolicy
from simulator.units import Bytes, BytesPerSecond, Number, Seconds, Share

MOST_OF_THE_NICS: Share = 0.5
"""What a save can take of NICs that it shares: two flows that both want a link get half of it each."""
BARRIER: Seconds = 0.3
"""Agreement of all ranks on an asynchronous save: ByteCheckpoint blocks 0.34 s on 1,488 and 0.59 s on 8,960 GPUs
(NSDI 2025, Table 8), of which the copy of a few GB per GPU is the rest."""


def resolve(
    policy: CheckpointPolicy,
    *,
    size: Bytes,
    size_per_gpu: Bytes,
    write: BytesPerSecond,
    host_link: BytesPerSecond,
    host_network: BytesPerSecond | None = None,
    hosts: int = 1,
) -> CheckpointPolicy:
    """Return `policy` with bytes, stall and persist filled in where they were left out; `load` stays as given.

    stall = max(bytes on a GPU / GPU-to-host bandwidth, barrier), persist = bytes / min(storage, hosts x network). Of a
    network that training shares, a save gets half.
    """
    size = policy.bytes if policy.bytes is not None else size
    part = MOST_OF_THE_NICS if policy.fabric == "shared" and policy.mode == "async" else 1.0
    out = write if host_network is None else min(write, hosts * host_network * part)
    persist = size / out
    if policy.mode == "blocking":
        stall = persist if policy.stall is None else policy.stall
        return replace(policy, bytes=size, stall=stall, persist=0.0 if policy.persist is None else policy.persist)
    stall = max(size_per_gpu / host_link, BARRIER) if policy.stall is None else policy.stall
    return replace(policy, bytes=size, stall=stall, persist=persist if policy.persist is None else policy.persist)


def of_the_nics(size: Bytes, persist: Seconds, network: BytesPerSecond) -> Share:
    """Return the share of the job's NICs that a save takes while it is persisted: bytes / (persist x network).

    >>> of_the_nics(1e12, 10.0, 400e9)  # 1 TB in 10 s, by hosts that send 400 GB/s together
    0.25
    """
    return min(size / (persist * network), MOST_OF_THE_NICS) if size and persist else 0.0


def slowed(share: Share, factor: Number) -> Share:
    """Return the share of training speed lost at a `share` of speed lost already and a step `factor` times as long."""
    return 1 - (1 - share) / factor


def load_time(size: Bytes, read: BytesPerSecond) -> Seconds:
    """Return the time to read a save back, all ranks at once.

    >>> round(load_time(5.29e12, 2e12), 2), round(load_time(5.29e12, 7e12), 3)  # 405B at Meta's 2 and 7 TB/s
    (2.65, 0.756)
    """
    return size / read


def save_overhead(interval: Seconds, stall: Seconds) -> float:
    """Return the share of time that saves take, one every `interval` seconds of wall clock.

    >>> round(save_overhead(3 * 3600, 40), 4)  # BLOOM
    0.0037
    """
    return stall / interval
