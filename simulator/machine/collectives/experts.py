"""How long kernels take that carry tokens to the ranks of their experts, or their results back.

    time = start + hop log2(ranks) + expert E + (token + copies copy) tokens / sms + max8(links, NICs, multiprocessors)

A few multiprocessors send the rows, each at so many bytes per second, over links that carry what an all-to-all reaches
of them. The slower of both sets the time, with a little of the others where they are close (the norm of order 8). A
combine also reads and writes rows of its own rank.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from math import ceil, log2
from typing import Any, NamedTuple

from simulator import catalog
from simulator.machine.channel import Channel
from simulator.machine.collectives import nccl
from simulator.machine.collectives.links import shared
from simulator.machine.collectives.rates import exchange_rate, hop, links
from simulator.machine.hardware import Gpu
from simulator.units import Bytes, BytesPerSecond, Count, Number, Seconds, Share, parse

ORDER = 8
"""Of the norm that joins what limits an exchange: close to the largest of them."""
DEFAULT_SMS: Count = 20
"""Multiprocessors that DeepEP takes where nobody says how many (deep_ep/buffer.py, Buffer.num_sms)."""
NEAREST = "hopper"
"""The architecture whose constants others have that were not measured."""


@dataclass(frozen=True, kw_only=True)
class Kernel:
    """Constants of one phase of a library on one architecture."""

    sms: str
    """Which multiprocessors it takes: as many as `given`, `all`, or those of whole groups of `experts`."""
    start: Seconds
    hop: Seconds = 0.0
    expert: Seconds = 0.0
    token: Seconds = 0.0
    copy: Seconds = 0.0
    sm_rate: BytesPerSecond | None = None
    own: Number = 0.0
    link: Share | None = None
    nic: Share | None = None


class Rows(NamedTuple):
    """What one rank sends."""

    tokens: Number
    copies: Number
    """Ranks that a token goes to, or experts where each gets a copy of its own."""
    row: Bytes
    experts: Count
    """Of all ranks together."""
    up: Bytes
    """Over the scale-up links of the rank."""
    out: Bytes = 0.0
    """Out of a domain, by all ranks of the group there together."""
    peers: Count = 0
    """Ranks of other domains that it sends to."""


@cache
def kernel(library: str, phase: str, architecture: str) -> Kernel:
    """Return the constants of a kernel; KeyError where the library has no such phase."""
    entry = catalog.entry("calibration", "exchanges")["kernels"][library]
    known = entry[phase]
    found = known.get(architecture) or known.get(NEAREST) or next(iter(known.values()))
    return Kernel(sms=entry["sms"], **{name: _number(name, value) for name, value in found.items()})


def seconds(kernel: Kernel, rows: Rows, channel: Channel, gpu: Gpu, sms: Number) -> Seconds:
    """Return the time of one exchange; `sms` are the multiprocessors that it may use, where it asks."""
    taken = multiprocessors(kernel, rows.experts, gpu, sms)
    latency = kernel.start + kernel.hop * log2(max(2, channel.ranks)) + kernel.expert * rows.experts
    if not channel.inside_host:
        latency += nccl.step("NET", "Ring", "Simple") + hop(channel) + rows.peers * nccl.overhead("LL")
    share = kernel.link or links(channel).all_to_all
    width = (channel.scale_up_exchange or channel.scale_up_bandwidth) * channel.scale_up_factor
    limits = [rows.up / (width * share)]
    if rows.out:
        limits.append(rows.out / (exchange_rate(channel) * (kernel.nic or shared().exchange)))
    work = 0.0
    if taken is not None:
        work = rows.tokens * (kernel.token + rows.copies * kernel.copy) / taken
        if kernel.sm_rate is not None:
            limits.append(rows.tokens * rows.row * (rows.copies + kernel.own) / (taken * kernel.sm_rate))
    return latency * channel.latency_factor + work + _norm(limits)


def multiprocessors(kernel: Kernel, experts: Count, gpu: Gpu, given: Number) -> Number | None:
    """Return how many multiprocessors a kernel takes; None where the GPU is not made of such."""
    if not gpu.deals_blocks:
        return None
    match kernel.sms:
        case "experts":
            return ceil(experts / ceil(experts / gpu.sms))
        case "all":
            return gpu.sms
        case _:
            return min(gpu.sms, given or DEFAULT_SMS)


def without_work(kernel: Kernel) -> Kernel:
    """Return the kernel with no work on tokens, for rows whose width is not known."""
    return replace(kernel, token=0.0, copy=0.0, sm_rate=None)


def _norm(limits: list[Seconds]) -> Seconds:
    most = max(limits)
    return most * sum((limit / most) ** ORDER for limit in limits) ** (1 / ORDER) if most > 0 else 0.0


def _number(name: str, value: Any) -> float:
    if name in ("own", "link", "nic"):
        return float(value)
    return parse(value, "B/s" if name == "sm_rate" else "s")
