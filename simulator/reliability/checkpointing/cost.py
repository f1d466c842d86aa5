"""What a save costs: how long training stops for it, and when it can be used.

A blocking save stops training until all bytes are on storage. An asynchronous one stops it until every GPU has
copied what it saves to the host's memory, at least the time that all ranks need to agree on a save. Storage has a
bandwidth of its own, and hosts can be slower together than it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from simulator.reliability.checkpointing.base import CheckpointPolicy
from simulator.units import Bytes, BytesPerSecond, Number, Seconds, Share

MOST_OF_THE_NICS: Share = 0.5
"""What a save can take of NICs that it shares: two flows that both want a link get half of it each."""
BARRIER: Seconds = 0.3
"""Agreement of all ranks on an asynchronous save: ByteCheckpoint blocks 0.34 s on 1,488 and 0.59 s on 8,960 GPUs
(NSDI 2025, Table 8), of which the copy of a few GB per GPU is the rest."""


PAGEABLE: BytesPerSecond = 1.4e9
"""What one process copies from its GPU to memory that it has just been given: pages are mapped and cleared while one
thread of the processor copies, whatever the link. `tensor.cpu()` of a Llama-like state on an A100, where pinned memory
got 12.6 GB/s (PyTorch pull request 138018)."""


@dataclass(frozen=True, kw_only=True)
class SaveCost:
    """What one save costs, worked out from what a policy says and from the machine."""

    stall: Seconds = 0.0
    """Training time lost per save: the stop, and what training loses while an asynchronous save is persisted."""
    persist: Seconds = 0.0
    """Time after the stall until the save can be used; none for a blocking save."""
    load: Seconds = 0.0
    """Time to read a save, added to the restart."""
    bytes: Bytes = 0.0


def as_said(policy: CheckpointPolicy) -> SaveCost:
    """Return what the policy itself says a save costs; what it leaves out costs nothing."""
    return _cost(
        policy, policy.bytes or 0.0, policy.stall or 0.0, policy.persist or 0.0, policy.slowdown, policy.load or 0.0
    )


def save_cost(
    policy: CheckpointPolicy,
    *,
    size: Bytes,
    write: BytesPerSecond,
    read: BytesPerSecond,
    copied: Seconds = 0.0,
    host_network: BytesPerSecond = 0.0,
    hosts: int = 1,
    slowed_by: Callable[[Share], Number] | None = None,
) -> SaveCost:
    """Return what a save of `policy` costs, what it leaves out worked out.

    stall = max(`copied`, barrier), `copied` being the time until the GPUs' memory is on the host; persist = bytes /
    min(storage, hosts x network), load the same with the storage's reading rate. Of a network that training shares, a
    save gets half. `host_network` is 0 where a host has none; `slowed_by` gives the factor on the step while a save
    takes a share of the NICs.
    """
    size = policy.bytes if policy.bytes is not None else size
    shared = policy.fabric == "shared" and policy.mode == "async"
    network = hosts * host_network
    out = min(write, network * (MOST_OF_THE_NICS if shared else 1.0)) if network else write
    persist = policy.persist if policy.persist is not None else size / out
    load = policy.load if policy.load is not None else load_time(size, min(read, network) if network else read)
    if policy.mode == "blocking":
        return _cost(policy, size, size / out if policy.stall is None else policy.stall, 0.0, 0.0, load)
    stall = max(copied, BARRIER) if policy.stall is None else policy.stall
    slowdown = policy.slowdown
    if shared and hosts > 1 and network and slowed_by and (share := of_the_nics(size, persist, network)):
        slowdown = slowed(slowdown, slowed_by(share))
    return _cost(policy, size, stall, persist, slowdown, load)


def _cost(
    policy: CheckpointPolicy, size: Bytes, stall: Seconds, persist: Seconds, slowdown: Share, load: Seconds
) -> SaveCost:
    lag = persist if policy.mode == "async" else 0.0
    return SaveCost(stall=stall + lag * slowdown, persist=lag, load=load, bytes=size)


def copy_time(nbytes: Bytes, *, link: BytesPerSecond, memory: BytesPerSecond, pageable: bool) -> Seconds:
    """Return the time until `nbytes` of each GPU of a host are in the host's memory, all GPUs copying at once.

    `link` is what a GPU's link to the host delivers, `memory` its share of the host's memory bandwidth.

    >>> copy_time(14e9, link=27e9, memory=51.2e9, pageable=True)
    10.0
    """
    rate = min(link, memory)
    return nbytes / (min(rate, PAGEABLE) if pageable else rate)


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
