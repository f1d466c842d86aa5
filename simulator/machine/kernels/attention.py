"""How long the core of attention takes, from projected queries, keys and values to the context, by kernel.

Fused kernels (`flash-2`, `cudnn`, ...) are cut into blocks by `attention_grid` and timed by `attention_flash`. The
work that counts is 4 b h s_q s_kv d, and half of it with a causal mask. The time is longer: a block also walks over the
masked part of its last steps, pays for its own start, and takes as long when it is not full, and few blocks leave
multiprocessors idle. The backward has five products instead of two; its blocks of keys walk over the queries.

``unfused``, ``eager`` and ``sinks`` are in `attention_unfused`. The constants' sources are in
`simulator/catalog/calibration/attention.yaml`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from simulator.machine.kernels import attention_flash, attention_grid, attention_unfused
from simulator.machine.kernels.attention_constants import ALWAYS, COLUMNS, NEVER, SECTIONS, SERVING
from simulator.machine.kernels.attention_flash import Chip, Work, padded
from simulator.machine.kernels.attention_unfused import KERNELS as UNFUSED
from simulator.units import Count, Flops, Number, Seconds, Share

if TYPE_CHECKING:
    from collections.abc import Mapping

    from simulator.machine.hardware import Gpu
    from simulator.machine.kernels.attention_constants import AttentionConstants, FlashConstants, Traits
    from simulator.machine.kernels.attention_grid import Grid

__all__ = ["UNFUSED", "bound_by_memory", "flops", "keys_seen", "newest", "time"]

NARROW = 256
"""Keys of the widest window whose blocks mask most of their steps. A wider one is in between it and no window, as only
windows of 128 and whole sequences were measured."""
POOL = 128
"""Multiprocessors that a chip stands for which deals no blocks, where they pay for their start."""


class Shape(NamedTuple):
    """What attention is computed of."""

    batch: Count
    heads: Count
    kv_heads: Count
    queries: Count
    keys: Count
    head_size: Count
    value_size: Count
    causal: bool
    piece: bool = False
    window: Count | None = None
    """None where it hides nothing."""

    @property
    def mask(self) -> str:
        """Which constants of a kernel apply."""
        return "window" if self.window else "causal" if self.causal or self.piece else "full"


@lru_cache(maxsize=65536)
def time(
    gpu: Gpu,
    *,
    batch: int,
    heads: int,
    queries: int,
    keys: int,
    head_size: int,
    kv_heads: int | None = None,
    value_size: int | None = None,
    causal: bool = True,
    piece: bool = False,
    window: int | None = None,
    backward: bool = False,
    kernel: str = "flash-2",
    dtype: str = "bf16",
    burst: bool = False,
    serving: bool = False,
) -> Seconds:
    """Return the time of one forward, or one backward, of `heads` heads over `batch` sequences.

    A `piece` is a block beside the diagonal of a causal sequence that was split. Published rates are those of whole
    sequences, where kernels without a mask are up to 13% faster than masked ones. Nobody measured which of the two a
    piece reaches, and cutting a sequence does not make its attention cheaper: so a piece has the masked rate.

    A kernel that the architecture lacks, or ``newest``, is its newest one, as frameworks choose. `burst` is a benchmark
    that ends before the power limit lowers the clock. `serving` is the call of a serving engine, whose sequences are
    packed and whose kernel may split keys.
    """
    if min(batch, heads, queries, keys) <= 0:
        return 0.0
    if kernel not in UNFUSED and kernel not in gpu.kernels.attention:
        kernel = newest(gpu)
    values = value_size or head_size
    if kernel in UNFUSED:
        squares = batch * heads
        return sum(
            attention_unfused.times(
                gpu, squares, queries, keys, head_size, values, kernel, backward, causal=causal, dtype=dtype
            )
        )
    shape = Shape(
        batch, heads, kv_heads or heads, queries, keys, head_size, values, causal, piece,
        window if window is not None and window < keys else None,
    )  # fmt: skip
    known = constants(gpu, kernel, dtype)
    planned = plan(gpu, shape, kernel, dtype, backward=backward, serving=serving)
    return fused(planned, known.backward if backward else known.forward, shape, burst=burst)


def fused(
    planned: tuple[Chip, Grid, Work], constants: Mapping[str, FlashConstants], shape: Shape, *, burst: bool
) -> Seconds:
    """Return the time of one pass by its constants under each mask; a wide window is much like none."""
    narrow = min(1.0, NARROW / shape.window) if shape.window else 1.0
    seconds = narrow * attention_flash.time(*planned, constants[shape.mask], burst=burst)
    if narrow == 1:
        return seconds
    rest = constants["causal" if shape.causal else "full"]
    return seconds + (1 - narrow) * attention_flash.time(*planned, rest, burst=burst)


def plan(
    gpu: Gpu, shape: Shape, kernel: str, dtype: str, *, backward: bool = False, serving: bool = False
) -> tuple[Chip, Grid, Work]:
    """Return what a fused kernel computes, and on what, before any measured constant but the threshold of the clock."""
    known = constants(gpu, kernel, dtype)
    traits = known.traits
    head_size, values = padded(shape.head_size), padded(shape.value_size)
    wide, group = max(head_size, values), shape.heads // shape.kv_heads
    block = traits.keys if backward else _block(traits, wide)
    packed = 1 if backward else _packed(traits, shape, block, serving)
    columns = shape.batch * shape.heads // packed
    mask: dict[str, Any] = {"causal": shape.causal, "window": shape.window}
    if backward:
        grid = attention_grid.backward(columns, shape.queries, shape.keys, block, **mask)
    else:
        grid = attention_grid.forward(columns, shape.queries, shape.keys, block, **mask, packed=packed)
    item = 1 if dtype == "fp8" and known is gpu.kernels.attention[kernel].get("fp8") else 2
    head = shape.keys * (shape.head_size + shape.value_size) * item
    moved = shape.kv_heads * head + shape.queries * shape.heads * (shape.head_size * item + shape.value_size * 2)
    work = Work(
        products=_products(head_size, values, backward),
        head_size=wide,
        sizes=head_size + values,
        nbytes=shape.batch * moved * (2.0 if backward else 1.0),
        item=item,
        sections=_sections(traits, shape.batch if serving else 0, columns, head, group),
        splits=not backward and (traits.splits == ALWAYS or (serving and traits.splits != NEVER)),
    )
    return _chip(gpu, kernel, dtype), grid, work


@lru_cache(maxsize=65536)
def bound_by_memory(
    gpu: Gpu,
    *,
    batch: int,
    heads: int,
    queries: int,
    keys: int,
    head_size: int,
    value_size: int | None = None,
    causal: bool = True,
    backward: bool = False,
    kernel: str = "flash-2",
    dtype: str = "bf16",
) -> Share:
    """Return the share of `time` that passes over the scores take; fused kernels leave these on the chip."""
    if kernel not in UNFUSED or min(batch, heads, queries, keys) <= 0:
        return 0.0
    width = value_size or head_size
    products, passes = attention_unfused.times(
        gpu, batch * heads, queries, keys, head_size, width, kernel, backward, causal=causal, dtype=dtype
    )
    return passes / (products + passes)


def newest(gpu: Gpu) -> str:
    """Return the best attention kernel that the GPU's architecture has."""
    return gpu.kernels.newest


def flops(
    *,
    batch: int,
    heads: int,
    queries: int,
    keys: int,
    head_size: int,
    value_size: int | None = None,
    causal: bool = True,
    window: int | None = None,
    backward: bool = False,
) -> Flops:
    """Return the FLOPs that count: 4 b h s_q s_kv d, half with a causal mask, two and a half times backward."""
    width = _products(head_size, value_size or head_size, backward)
    return 2.0 * batch * heads * queries * width * keys_seen(queries, keys, causal=causal, window=window)


def keys_seen(queries: int, keys: int, *, causal: bool = True, window: int | None = None) -> Number:
    """Return the mean number of keys a query sees; the last query sees the last key.

    >>> keys_seen(4096, 4096), keys_seen(4096, 4096, causal=False), keys_seen(4096, 4096, window=1024)
    (2048.0, 4096.0, 896.0)
    """
    if window is None or window >= keys:
        return keys - queries / 2 if causal and keys >= queries else keys / (2.0 if causal else 1.0)
    first = max(0, window - (keys - queries)) if causal else 0
    short = min(first, queries)
    return window - short * short / (2.0 * queries) if causal else float(window)


def _products(head_size: int, value_size: int, backward: bool) -> int:
    return 3 * head_size + 2 * value_size if backward else head_size + value_size


def constants(gpu: Gpu, kernel: str, dtype: str) -> AttentionConstants:
    """Return the constants of `kernel`; it runs in bf16 where it has no form in the format."""
    precisions = gpu.kernels.attention[kernel]
    return precisions.get(dtype, precisions["bf16"])


@lru_cache(maxsize=4096)
def _chip(gpu: Gpu, kernel: str, dtype: str) -> Chip:
    """Return what the kernel needs to know of `gpu`; formats that it lacks compute at the peak of bf16."""
    known = constants(gpu, kernel, dtype)
    wide = gpu.peak.get("bf16") or gpu.peak_of("fp16")
    own = dtype in gpu.kernels.attention[kernel] or dtype not in ("fp8", "mxfp8", "nvfp4")
    sms = gpu.sms if gpu.deals_blocks else POOL
    units = gpu.kernels.units
    cycles = wide / sms / units.tensor
    return Chip(
        sms=sms,
        flops=gpu.peak_of(dtype) if own else wide,
        exponentials=units.exponentials * cycles * sms,
        cycles=cycles,
        bandwidth=gpu.memory_bandwidth * gpu.kernels.elementwise.fused,
        threshold=known.threshold,
        counted=gpu.deals_blocks,
    )


def _block(traits: Traits, head_size: int) -> Count:
    """Return the queries in a block."""
    return next((block for size, block in traits.blocks.items() if head_size <= size), min(traits.blocks.values()))


def _packed(traits: Traits, shape: Shape, block: Count, serving: bool) -> Count:
    """Return the query heads of a key head that share a block of queries."""
    short = shape.queries < block
    packs = (serving or short) if traits.packs == ALWAYS else serving and short and traits.packs == SERVING
    return shape.heads // shape.kv_heads if packs else 1


def _sections(traits: Traits, sequences: Count, columns: Count, keys: Number, group: Count) -> Number:
    """Return the sections that blocks are dealt in: each of the packed `sequences`, or what fits in the cache.

    `keys` are bytes of the keys and values of a head, `group` the query heads that share them.
    """
    if traits.order == COLUMNS:
        return columns
    if traits.order != SECTIONS:
        return 0.0
    if sequences:
        return sequences
    return max(1.0, columns / (group * max(1.0, traits.cache / keys)))
