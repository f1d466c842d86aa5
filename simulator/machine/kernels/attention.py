"""How long the core of attention takes, from projected queries, keys and values to the context, by kernel.

Flash kernels deal blocks of queries to multiprocessors; a block walks over the keys it may see::

    time = start + blocks' work / (peak · share) · waves/w
    work = 2 · batch · heads · padded queries · (head_size + value_size) · (keys seen + edge + start keys)

The work that counts, 4 b h s_q s_kv d and half of it with a causal mask, is that with the mean keys seen alone. A
block also pays for the masked part of the blocks on the edge and for its own start and end, written as keys: so the
rate grows as s / (s + s_half), with s_half = start without and edge + 2 start with a mask, as measured. A block that
is not full takes as long as a full one, because a matrix instruction works on whole tiles. The backward
has five products instead of two. Few heads leave multiprocessors idle, as in `gemm`.

``unfused`` is two batched products and kernels that pass over the scores (scale, mask, softmax and dropout in one);
``eager``, plain PyTorch, adds passes for a separate mask and for layouts; ``sinks`` adds a learned logit a head,
which is joined to the scores as one more column and cut off after the softmax. The constants' sources are in
`simulator/catalog/calibration/attention.yaml`.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from math import ceil, log2
from typing import TYPE_CHECKING

from simulator.machine.kernels import elementwise, gemm, roofline
from simulator.units import Flops, Number, Seconds, Share

if TYPE_CHECKING:
    from collections.abc import Mapping

    from simulator.machine.hardware import Gpu
    from simulator.machine.kernels.constants import AttentionConstants

BLOCK = 128
"""Queries, and keys, in a block."""
PADDING = 32
"""Head sizes are padded to a multiple of this."""
UNFUSED = ("unfused", "eager", "sinks")
SINK_PASSES = 4
"""Forward passes over the scores that a sink adds: a copy that joins its column and one that cuts it off, each a read
and a write (`SoftmaxOne` of Megatron-Core 0.15, fusions/fused_softmax.py)."""


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
) -> Seconds:
    """Return the time of one forward, or one backward, of `heads` heads over `batch` sequences.

    A `piece` is a block beside the diagonal of a causal sequence that was split. Published rates are those of whole
    sequences, where kernels without a mask are up to 13% faster than masked ones. Nobody measured which of the two a
    piece reaches, and cutting a sequence does not make its attention cheaper: so a piece has the masked rate.

    A kernel that the architecture lacks, or ``newest``, is its newest one, as frameworks choose.
    """
    if min(batch, heads, queries, keys) <= 0:
        return 0.0
    if kernel not in UNFUSED and kernel not in gpu.kernels.attention:
        kernel = newest(gpu)
    value_size = value_size or head_size
    if kernel in UNFUSED:
        squares = batch * heads
        return sum(
            _unfused(gpu, squares, queries, keys, head_size, value_size, kernel, backward, causal=causal, dtype=dtype)
        )
    constants = _constants(gpu, kernel, dtype)
    seen = keys_seen(queries, keys, causal=causal, window=window)
    masked = causal or (window is not None and window < keys)
    walked = seen + (BLOCK / 2 if masked else 0) + (constants.start_backward if backward else constants.start)
    width = _products(_padded(head_size), _padded(value_size), backward)
    blocks = batch * heads * ceil(queries / BLOCK)
    work = 2.0 * blocks * BLOCK * width * walked
    shares = constants.backward if backward else constants.forward
    rate = _peak(gpu, dtype) * share(shares, _padded(max(head_size, value_size)))
    rate *= constants.causal if masked or piece else 1.0
    w = blocks / gpu.sms
    tail = gpu.kernels.gemm.tail
    fill = w / (tail * ceil(w) + (1 - tail) * max(w, 1.0))
    kv = kv_heads or heads
    nbytes = 2.0 * batch * (queries * heads + keys * kv) * (head_size + value_size) * (2 if backward else 1)
    return gpu.kernels.elementwise.start + max(work / (rate * fill), roofline.time(gpu, 0.0, nbytes))


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
    products, passes = _unfused(
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


def _padded(size: int) -> int:
    return _multiple(size, PADDING)


def _peak(gpu: Gpu, dtype: str) -> float:
    """Return the peak the shares refer to; eight-bit kernels are written as a share of the bf16 peak too."""
    return gpu.peak_of("bf16" if "bf16" in gpu.peak and dtype in ("fp8", "mxfp8", "nvfp4") else dtype)


def _constants(gpu: Gpu, kernel: str, dtype: str) -> AttentionConstants:
    """Return the constants of `kernel`; it runs in bf16 where it has no eight-bit form."""
    precisions = gpu.kernels.attention[kernel]
    return precisions.get(dtype, precisions["bf16"])


def share(shares: Mapping[int, Share], head_size: int) -> Share:
    """Interpolate between measured head sizes; below the smallest the time of a score does not shrink further."""
    sizes = sorted(shares)
    if head_size <= sizes[0]:
        return shares[sizes[0]] * head_size / sizes[0]
    for low, high in pairwise(sizes):
        if head_size <= high:
            part = log2(head_size / low) / log2(high / low)
            return (1 - part) * shares[low] + part * shares[high]
    return shares[sizes[-1]]


def _unfused(
    gpu: Gpu,
    groups: int,
    queries: int,
    keys: int,
    head_size: int,
    value_size: int,
    kernel: str,
    backward: bool,
    *,
    causal: bool,
    dtype: str,
) -> tuple[Seconds, Seconds]:
    """Return the time of batched products over the full square, and that of the passes over it."""
    constants = gpu.kernels.unfused
    scores = gemm.time(gpu, queries, keys, _multiple(head_size, 8), groups=groups, dtype=dtype)
    context = gemm.time(gpu, queries, _multiple(value_size, 8), _multiple(keys, 8), groups=groups, dtype=dtype)
    products = 2 * (scores + context) if backward else scores + context
    if head_size % 8 or value_size % 8:
        products *= constants.unaligned
    values = constants.passes * queries * keys
    if kernel != "unfused":
        values += constants.copies * (queries + keys) * (head_size + value_size) / 2
        values += constants.mask_passes * queries * keys if causal else 0.0
    if kernel == "sinks":
        values += SINK_PASSES * queries * keys
    nbytes = 2.0 * groups * values * (constants.backward if backward else 1.0)
    return products, elementwise.time(gpu, nbytes)


def _multiple(size: int, unit: int) -> int:
    return ceil(size / unit) * unit
