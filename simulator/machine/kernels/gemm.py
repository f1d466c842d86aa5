"""How long a matrix product takes: tiles dealt to multiprocessors in waves.

C[m, n] (+)= A[m, k] B[k, n], `groups` of them in one kernel::

    time     = max(issue, start + (compute^p + memory^p)^(1/p))
    compute  = min over tiles a x b and depth splits s of
               waves · sms · 2ab (k/s + ramp) / (peak · rate / (1 + edge (1/a + 1/b)))  (+ passes over partial results)
    waves    = tail · ceil(w) + (1 - tail) · max(w, 1),   w = groups · ceil(m/a) ceil(n/b) · s / sms
    memory   = bytes of A, B and C / delivered bandwidth

A tile of a x b reads (a + b) k elements for ab k products, so narrow tiles are bound by moving operands: that is
``edge``. ``ramp`` is what a tile pays to fill and drain its pipeline, ``tail`` the share of a partly filled last wave
that the chip waits for. The library's choice of tile is taken as the best one. Constants are fitted per architecture
to published kernel times (`simulator/catalog/calibration/gemm.yaml`) and predict weight shapes left out of the fit as
well as one free rate a tile does. Times are of isolated kernels; what a training stack loses is the stack's
``gemm_factor``.
"""

from __future__ import annotations

from functools import lru_cache
from math import ceil, inf
from typing import TYPE_CHECKING

from simulator.units import Bytes, Flops, Seconds, Share

if TYPE_CHECKING:
    from collections.abc import Mapping

    from simulator.machine.hardware import Gpu

TILES = ((256, 128), (128, 256), (128, 128), (64, 128), (128, 64), (64, 64))
SPLITS = (1, 2, 4, 8)
ELEMENT_BYTES = {"fp32": 4.0, "tf32": 4.0, "fp16": 2.0, "bf16": 2.0, "fp8": 1.0, "mxfp8": 1 + 1 / 32, "nvfp4": 0.5625}
"""Bytes an input element takes; block formats carry one scale for 32 (mxfp8) or 16 (nvfp4) elements."""
MEASURED_AS = {"fp16": "bf16", "tf32": "bf16", "mxfp8": "fp8"}
"""Precisions that run at another's share of their own peak."""
VECTOR_BYTES = 16
"""The widest load; rows that do not start on it are read in narrower pieces."""


@lru_cache(maxsize=262144)
def time(
    gpu: Gpu, m: int, n: int, k: int, *, groups: int = 1, dtype: str = "bf16", accumulate: bool = False
) -> Seconds:
    """Return the time of `groups` products of m x k by k x n; `accumulate` adds into fp32 (weight gradients)."""
    if min(m, n, k, groups) <= 0:
        return 0.0
    constants = gpu.kernels.gemm
    compute, memory = _bounds(gpu, m, n, k, groups, dtype, accumulate)
    p = constants.overlap
    combined: float = (compute**p + memory**p) ** (1 / p)
    return max(constants.issue, constants.start[MEASURED_AS.get(dtype, dtype)] + combined)


@lru_cache(maxsize=262144)
def bound_by_memory(
    gpu: Gpu, m: int, n: int, k: int, *, groups: int = 1, dtype: str = "bf16", accumulate: bool = False
) -> Share:
    """Return the share of a product's time that grows as memory slows: the elasticity of `time`, starts left out."""
    if min(m, n, k, groups) <= 0:
        return 0.0
    compute, memory = _bounds(gpu, m, n, k, groups, dtype, accumulate)
    share: float = 1 / (1 + (compute / memory) ** gpu.kernels.gemm.overlap)
    return share


def _bounds(gpu: Gpu, m: int, n: int, k: int, groups: int, dtype: str, accumulate: bool) -> tuple[Seconds, Seconds]:
    """Return the time of the arithmetic alone, and that of the memory alone."""
    constants = gpu.kernels.gemm
    key = MEASURED_AS.get(dtype, dtype)
    rate = gpu.peak_of(dtype) * constants.rate[key] / gpu.sms
    if accumulate:
        rate *= constants.accumulate
    rate *= _alignment(constants.unaligned, dtype, (m, n) if accumulate else (k,))
    ramp, edge, tail = constants.ramp[key], constants.edge, constants.tail
    partial = 4.0 * constants.split * groups * m * n / gpu.memory_bandwidth
    best = inf
    for a, b in TILES:
        tiles = groups * ceil(m / a) * ceil(n / b)
        work = 2 * a * b * (1 + edge * (1 / a + 1 / b)) / rate
        for split in SPLITS:
            w = tiles * split / gpu.sms
            waves = tail * ceil(w) + (1 - tail) * max(w, 1.0)
            best = min(best, waves * work * (k / split + ramp) + (partial * split if split > 1 else 0.0))
            if w >= 1:
                break
    memory = traffic(m, n, k, groups=groups, dtype=dtype, accumulate=accumulate)
    return best, memory / (gpu.memory_bandwidth * constants.memory)


def flops(m: int, n: int, k: int, *, groups: int = 1) -> Flops:
    """Return the multiplications and additions of a product."""
    return 2.0 * groups * m * n * k


def traffic(m: int, n: int, k: int, *, groups: int = 1, dtype: str = "bf16", accumulate: bool = False) -> Bytes:
    """Return the least bytes moved: both operands once, the result once, an accumulated fp32 result twice."""
    size = ELEMENT_BYTES[dtype]
    result = 8.0 if accumulate else max(2.0, size)
    return groups * ((m * k + n * k) * size + m * n * result)


def _alignment(unaligned: Mapping[int, Share], dtype: str, sizes: tuple[int, ...]) -> float:
    """Return the share of the rate left when rows of these sizes do not start on the widest load.

    The operands of forward and input-gradient products are contiguous along k, those of weight gradients along m and n.
    """
    vector = VECTOR_BYTES / ELEMENT_BYTES[dtype]
    pieces = max((vector / common for size in sizes if (common := _power_of_two(size)) < vector), default=1.0)
    return min((share for piece, share in unaligned.items() if piece <= pieces), default=1.0)


def _power_of_two(size: int) -> int:
    return size & -size
