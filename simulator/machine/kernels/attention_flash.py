"""The time of one pass of a fused attention kernel.

Blocks of queries are dealt to multiprocessors and walk over the keys that they may see, 64 at a time::

    step   = hypot(products, exponentials), not below the load of keys and values     a multiprocessor at full load
    alone  = latency growth^log2((head + value size) / 256), not below a step         a block by itself
    one    = steps of the longest block x alone + start
    even   = (all steps x step + blocks x start) / multiprocessors
    time   = launch + max(core, bytes / memory bandwidth) / clock

The latency of a step is what few heads see: a chain of product, row maximum, exponential and product, which takes one
block as long as the several that a busy multiprocessor interleaves. How `core` follows from `one` and `even` is said by
`simulator.machine.kernels.attention_order`.
"""

from __future__ import annotations

from functools import lru_cache
from math import ceil, hypot, log2
from typing import TYPE_CHECKING, NamedTuple

from simulator.machine.kernels import attention_order, clock
from simulator.machine.kernels.attention_grid import STEP, Grid
from simulator.units import Bytes, BytesPerSecond, Count, FlopsPerSecond, Number, Seconds, Share

if TYPE_CHECKING:
    from collections.abc import Mapping

    from simulator.machine.kernels.attention_constants import FlashConstants

PADDED = (32, 64, 96, 128, 192, 256)
"""Head sizes that kernels are compiled for, others are padded (Dao-AILab/flash-attention, HEADDIM_SWITCH)."""
WIDTH = 256
"""Head and value size together for which latencies are written."""
FEW: Share = 0.8
"""Blocks over multiprocessors below which kernels split keys (Dao-AILab/flash-attention, num_splits_heuristic)."""
PARTS = (2, 3, 4, 6, 8, 16)
JOIN: Seconds = 2.5e-6
"""The kernel that joins the parts of split keys; what it reads is still in the cache."""


class Chip(NamedTuple):
    """What a kernel needs to know of the GPU."""

    sms: Count
    flops: FlopsPerSecond
    """Peak of all multiprocessors in the kernel's format."""
    exponentials: Number
    """Of all multiprocessors, per second."""
    cycles: Number
    """Clock at its maximum, per second."""
    bandwidth: BytesPerSecond
    """Delivered bandwidth of the memory."""
    threshold: Share
    """Utilisation above which the clock falls."""
    counted: bool
    """Whether its multiprocessors are known, so that few blocks can leave some of them idle."""


class Work(NamedTuple):
    """What one pass computes for each query and key, and what it moves."""

    products: Count
    """Sizes of all products together, padded."""
    head_size: Count
    """The larger of head and value size, padded."""
    sizes: Count
    """Head and value size together, padded."""
    nbytes: Bytes
    """Moved between the chip and its memory."""
    item: Bytes
    """Bytes of an element of keys and values."""
    sections: Number = 0.0
    """Sections that are dealt one after the other; 0 for an order that is fixed beforehand."""
    splits: bool = False
    """Whether the keys may be split."""


def time(chip: Chip, grid: Grid, work: Work, constants: FlashConstants, *, burst: bool) -> Seconds:
    """Return the time of a pass on its own, in the middle of a run or in a benchmark's short burst."""
    flops = 2.0 * grid.block * STEP * work.products
    products = flops * chip.sms / (chip.flops * share(constants.rate, work.head_size))
    exponentials = grid.block * STEP * chip.sms / (chip.exponentials * constants.exponentials)
    load = STEP * work.sizes * work.item / (constants.load * chip.cycles)
    step = max(hypot(products, exponentials), load)
    alone = max(step, constants.latency * constants.growth ** log2(work.sizes / WIDTH))
    busy = max(_core(chip, grid, work, constants, step, alone), work.nbytes / chip.bandwidth)
    used = grid.columns * grid.steps * flops / (busy * chip.flops)
    return float(constants.launch + busy / clock.share(used, chip.threshold, burst=busy if burst else None))


def _core(chip: Chip, grid: Grid, work: Work, constants: FlashConstants, step: Seconds, alone: Seconds) -> Seconds:
    """Return the time until the last multiprocessor is done at the full clock; split keys where that is sooner."""
    even = (grid.columns * grid.steps * step + grid.blocks * constants.start) / chip.sms
    if not chip.counted:
        return even
    first = attention_order.first(grid, chip.sms, step, constants.start)
    deal = attention_order.Deal(
        grid.blocks / chip.sms, even, grid.longest * alone + constants.start, first, grid.triangle, work.sections
    )
    best = attention_order.core(deal, constants.overlap, constants.order)
    if not work.splits or deal.waves >= FEW:
        return best
    for parts in PARTS:
        if parts <= grid.longest:
            more = even + (parts - 1) * deal.waves * constants.start
            part = deal._replace(even=more, one=grid.longest * alone / parts + constants.start)
            best = min(best, JOIN + attention_order.core(part, constants.overlap, constants.order))
    return best


@lru_cache(maxsize=64)
def padded(size: int) -> int:
    """Return the head size that a kernel computes for heads of `size`."""
    return next((wide for wide in PADDED if size <= wide), ceil(size / 64) * 64)


def share(shares: Mapping[int, Share], head_size: int) -> Share:
    """Interpolate between measured head sizes; the nearest beyond them."""
    if head_size in shares:
        return shares[head_size]
    low = max((size for size in shares if size < head_size), default=0)
    high = min((size for size in shares if size > head_size), default=0)
    if not low or not high:
        return shares[low or high]
    part = log2(head_size / low) / log2(high / low)
    return (1 - part) * shares[low] + part * shares[high]
