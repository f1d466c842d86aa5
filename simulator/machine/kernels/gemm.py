"""How long a matrix product takes: tiles dealt to multiprocessors in waves, memory beside them, the clock under power.

C[m, n] (+)= A[m, k] B[k, n], `groups` of them in one kernel::

    time     = max(issue, start + core / clock)
    core     = (compute^p + memory^p)^(1/p)
    compute  = min over tiles a x b and depth splits s of   waves · (k/s · step + epilogue · ab) + fill (+ split)
    step     = longest of   2ab (1 + edge (1/a + 1/b)) / (peak · rate / sms),   (a + b) bytes / load,   latency
    waves    = tail · ceil(w) + (1 - tail) · max(w, 1),   w = groups · ceil(m/a) ceil(n/b) · s / sms
    memory   = bytes from memory / (bandwidth · share) + bytes from the second-level cache / its bandwidth
    clock    = that of `simulator.machine.kernels.clock` at   u = flops / core / peak

A tile of a x b reads (a + b) k elements for ab k products: wide ones are bound by multiplying, with a loss at their
``edge``, narrow ones by what one multiprocessor loads (``load``), tiny ones by the latency of a step. ``tail`` is the
share of a partly filled last wave that the chip waits for. The library's choice of tile is taken as the best one.

Where repeated for a second (``sustained``) the clock has settled, in a ``burst`` of some twenty times in part.
Benchmarks replay one product, so that part of its operands stays in the second-level cache; in ``training`` the clock
is settled and operands come from memory.

Constants are fitted by architecture and number format to measured kernels (`simulator.calibration.gemm`), half of the
shapes left out. What a training stack loses beyond is the stack's ``gemm_factor``. Casts are kernels of their own
(`simulator.machine.kernels.casts`).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from simulator.errors import ScenarioError
from simulator.machine.kernels import clock
from simulator.machine.kernels.tiles import configurations
from simulator.units import Bytes, Flops, Seconds, Share

if TYPE_CHECKING:
    from simulator.machine.hardware import Gpu
    from simulator.machine.kernels.constants import ProductConstants

Regime = Literal["training", "sustained", "burst"]
"""How often one product is repeated."""
REGIMES: tuple[Regime, ...] = ("training", "sustained", "burst")
ELEMENT_BYTES = {
    "fp32": 4.0,
    "tf32": 4.0,
    "fp16": 2.0,
    "bf16": 2.0,
    "fp8": 1.0,
    "fp8-block": 1 + 4 / 128,
    "mxfp8": 1 + 1 / 32,
    "nvfp4": 0.5625,
}
"""Bytes an input element takes; block formats carry one scale for 128 (fp8-block), 32 (mxfp8) or 16 (nvfp4)."""
MEASURED_AS = {"fp16": "bf16", "tf32": "bf16", "mxfp8": "fp8-block", "fp8-block": "fp8"}
"""Formats that run at another's share of their own peak; blocks of 128 on Blackwell have mxfp8's scales. Where blocks
were not measured on an architecture, they run as fp8 with a scale a tensor."""
PEAK_OF = {"fp8-block": "fp8"}
"""Formats that multiply by the instructions of another."""
OUTPUT_BYTES = 2.0
VECTOR_BYTES = 16
"""The widest load; rows that do not start on it are read in narrower pieces."""
LATENCY_DEPTH, EPILOGUE_AREA = 64, 128 * 256
"""Depth of the step and outputs of the tile that constants are stated for."""
SPLIT_BELOW = 1.5
"""Waves up to which libraries split the depth."""


class Shape(NamedTuple):
    """One product, or as many as the arrays are long."""

    m: Any
    n: Any
    k: Any
    groups: Any = 1
    heights: Any = None
    """Tiles along m of all groups together, one an element of `configurations` in the last axis, where groups differ;
    m is their mean then, and chooses the tile. Such products do not split their depth."""


@lru_cache(maxsize=262144)
def time(
    gpu: Gpu,
    m: int,
    n: int,
    k: int,
    *,
    groups: int = 1,
    dtype: str = "bf16",
    accumulate: bool = False,
    regime: Regime = "training",
) -> Seconds:
    """Return the time of `groups` products of m x k by k x n; `accumulate` adds into fp32 (weight gradients)."""
    if min(m, n, k, groups) <= 0:
        return 0.0
    compute, memory = _bounds_of_one(gpu, m, n, k, groups, dtype, accumulate, regime)
    return float(_seconds(gpu, of_format(gpu, dtype), Shape(m, n, k, groups), dtype, regime, compute, memory))


@lru_cache(maxsize=262144)
def bound_by_memory(
    gpu: Gpu, m: int, n: int, k: int, *, groups: int = 1, dtype: str = "bf16", accumulate: bool = False
) -> Share:
    """Return the share of a product's time that grows as memory slows: the elasticity of `time`, starts left out.

    A chip that waits for memory needs less power, so that a lowered clock rises and takes part of the growth back.
    """
    if min(m, n, k, groups) <= 0:
        return 0.0
    constants, shape = of_format(gpu, dtype), Shape(m, n, k, groups)
    compute, memory = _bounds_of_one(gpu, m, n, k, groups, dtype, accumulate, "training")
    share = 1 / (1 + (compute / memory) ** constants.overlap)
    throttled = _utilisation(gpu, shape, dtype, _core(constants, compute, memory)) > constants.throttle
    return float(share * (1 - constants.slowing) if throttled else share)


@lru_cache(maxsize=262144)
def _bounds_of_one(
    gpu: Gpu, m: int, n: int, k: int, groups: int, dtype: str, accumulate: bool, regime: Regime
) -> tuple[Seconds, Seconds]:
    aligned = alignment(gpu.kernels.gemm.unaligned, dtype, (m, n) if accumulate else (k,))
    constants, shape = of_format(gpu, dtype), Shape(m, n, k, groups)
    compute, memory = _bounds(gpu, constants, shape, dtype, accumulate, regime, aligned)
    return float(compute), float(memory)


def of_format(gpu: Gpu, dtype: str) -> ProductConstants:
    """Return the constants of a number format, or of the one it is measured as."""
    formats = gpu.kernels.gemm.formats
    known: str | None = dtype
    while known is not None and known not in formats:
        known = MEASURED_AS.get(known)
    if known is None:
        raise ScenarioError(f"there is no model of products in {dtype}; there is one of {', '.join(ELEMENT_BYTES)}")
    return formats[known]


def seconds(gpu: Gpu, shape: Shape, *, dtype: str, regime: Regime, accumulate: bool = False, aligned: Any = 1.0) -> Any:
    """Return the times of products given as arrays; `aligned` is the share of the rate that their rows leave."""
    constants = of_format(gpu, dtype)
    compute, memory = _bounds(gpu, constants, shape, dtype, accumulate, regime, aligned)
    return _seconds(gpu, constants, shape, dtype, regime, compute, memory)


def seconds_by(gpu: Gpu, constants: ProductConstants, shape: Shape, *, dtype: str, regime: Regime) -> Any:
    """Return the times of products given as arrays, by other `constants` than those of the format."""
    compute, memory = _bounds(gpu, constants, shape, dtype, False, regime, 1.0)
    return _seconds(gpu, constants, shape, dtype, regime, compute, memory)


def _seconds(
    gpu: Gpu, constants: ProductConstants, shape: Shape, dtype: str, regime: Regime, compute: Any, memory: Any
) -> Any:
    """Return the time with start and clock of what takes `compute` and `memory` at the full clock."""
    core = _core(constants, compute, memory)
    used, burst = _utilisation(gpu, shape, dtype, core), core if regime == "burst" else None
    rate = clock.share(used, constants.throttle, constants.slowing, burst=burst, reaction=constants.settle)
    return np.maximum(gpu.kernels.gemm.issue, constants.start + core / rate)


def _core(constants: ProductConstants, compute: Any, memory: Any) -> Any:
    return (compute**constants.overlap + memory**constants.overlap) ** (1 / constants.overlap)


def _utilisation(gpu: Gpu, shape: Shape, dtype: str, core: Any) -> Any:
    return flops(shape.m, shape.n, shape.k, groups=shape.groups) / core / peak_of(gpu, dtype)


def peak_of(gpu: Gpu, dtype: str) -> float:
    """Return the dense peak that a format multiplies at."""
    return gpu.peak_of(PEAK_OF.get(dtype, dtype))


def _bounds(
    gpu: Gpu,
    constants: ProductConstants,
    shape: Shape,
    dtype: str,
    accumulate: bool,
    regime: Regime,
    aligned: Any,
) -> tuple[Any, Any]:
    """Return the time of the arithmetic alone, and that of the memory alone, at the full clock."""
    rate = peak_of(gpu, dtype) * constants.rate * aligned / gpu.sms
    if accumulate:
        rate = rate * gpu.kernels.gemm.accumulate
    compute = _tiled(gpu, constants, shape, rate, ELEMENT_BYTES[dtype])
    moved = traffic(shape.m, shape.n, shape.k, groups=shape.groups, dtype=dtype, accumulate=accumulate)
    warm = 0.0 if regime == "training" else np.minimum(moved, constants.resident * gpu.cache)
    bandwidth = gpu.memory_bandwidth * constants.memory
    return compute, (moved - warm) / bandwidth + warm / max(constants.l2 * gpu.sms, bandwidth)


class _Costs(NamedTuple):
    """What each tile and split costs whatever the shape, one an element."""

    multiplied: Any
    """Operations of a step, edges included, for each element of depth."""
    loading: Seconds
    """Least time of a step."""
    epilogue: Any
    split: Any


@lru_cache(maxsize=512)
def _costs(constants: ProductConstants, architecture: str, size: Bytes) -> _Costs:
    tiles = configurations(architecture, round(constants.parts))
    return _Costs(
        2 * tiles.area * (1 + constants.edge * tiles.edges),
        np.maximum(tiles.span * (size / constants.load), constants.latency / LATENCY_DEPTH),
        constants.epilogue / EPILOGUE_AREA * tiles.area,
        constants.split * tiles.split,
    )


def _tiled(gpu: Gpu, constants: ProductConstants, shape: Shape, rate: Any, size: Bytes) -> Any:
    """Return the time of the best tile and split; `rate` is that of one multiprocessor with a wide tile."""
    tiles = configurations(gpu.architecture, round(constants.parts))
    costs = _costs(constants, gpu.architecture, size)
    m, n, k, groups, rate = (
        value[..., None] if isinstance(value, np.ndarray) else value for value in (*shape[:4], rate)
    )
    across, share = np.ceil(n / tiles.b), tiles.parts / gpu.sms
    step = k / tiles.parts * np.maximum(costs.multiplied / rate, costs.loading) + costs.epilogue
    w = groups * np.ceil(m / tiles.a) * across * share
    total = _waves(constants, w) * step
    if constants.parts > 1:
        partial = constants.passes * 4 / (constants.l2 * gpu.sms) * groups * m * n
        joined = total + costs.split + partial * (tiles.parts * tiles.split)
        total = np.where((w <= SPLIT_BELOW) | (tiles.split == 0), joined, np.inf)
    if shape.heights is None:
        return constants.fill + total.min(axis=-1)
    uneven = _waves(constants, shape.heights * across * share) * step
    return constants.fill + np.take_along_axis(uneven, total.argmin(axis=-1)[..., None], axis=-1)[..., 0]


def _waves(constants: ProductConstants, w: Any) -> Any:
    """Return the rounds that multiprocessors go through for `w` tiles each."""
    return constants.tail * np.ceil(w) + (1 - constants.tail) * np.maximum(w, 1.0)


def flops(m: int, n: int, k: int, *, groups: int = 1) -> Flops:
    """Return the multiplications and additions of a product."""
    return 2.0 * groups * m * n * k


def traffic(m: int, n: int, k: int, *, groups: int = 1, dtype: str = "bf16", accumulate: bool = False) -> Bytes:
    """Return the least bytes moved: both operands once, the result once, an accumulated fp32 result twice."""
    size = ELEMENT_BYTES[dtype]
    result = 8.0 if accumulate else max(OUTPUT_BYTES, size)
    return groups * ((m * k + n * k) * size + m * n * result)


def alignment(unaligned: Mapping[int, Share], dtype: str, sizes: tuple[int, ...]) -> float:
    """Return the share of the rate left when rows of these sizes do not start on the widest load.

    The operands of forward and input-gradient products are contiguous along k, those of weight gradients along m and n.
    """
    vector = VECTOR_BYTES / ELEMENT_BYTES[dtype]
    pieces = max((vector / common for size in sizes if (common := _power_of_two(size)) < vector), default=1.0)
    return min((share for piece, share in unaligned.items() if piece <= pieces), default=1.0)


def _power_of_two(size: int) -> int:
    return size & -size
