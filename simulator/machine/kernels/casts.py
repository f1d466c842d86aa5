"""How long the casts ahead of a low-precision product take, as kernels of their own.

One scale a tensor needs two kernels: ``absmax`` reads the tensor to find its scale, ``quantise`` reads it again and
writes eight bits. Formats with scales by blocks do both in one. Each takes::

    time = (start^p + longest of (bytes from memory / delivered bandwidth, all bytes / (load · sms))^p)^(1/p)

What multiprocessors take (``load``) binds an absmax on fast memory, and all casts of a tensor that lies in the second-
level cache: one that a benchmark replays stays there while it fits, and hardly any of it a fifth above.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from simulator.machine.kernels import gemm
from simulator.units import Seconds, Share

if TYPE_CHECKING:
    from simulator.machine.hardware import Gpu
    from simulator.machine.kernels.gemm import Regime

READ_BYTES = 2.0
THRASHES: Share = 0.2
"""How far a tensor exceeds the cache until each line is gone before it is read again (L40S, 96 MB: from 98 to 115)."""
KERNELS = {"fp8": ("absmax", "quantise"), "fp8-block": ("fp8-block",), "mxfp8": ("fp8-block",), "nvfp4": ("nvfp4",)}
"""Kernels that cast a tensor of 16 bits to a format; other formats need none."""


@lru_cache(maxsize=65536)
def time(gpu: Gpu, values: int, *, dtype: str, regime: Regime = "training") -> Seconds:
    """Return the time to cast a tensor of so many values, nought where the format needs no cast."""
    return float(seconds(gpu, values, dtype=dtype, regime=regime))


def seconds(gpu: Gpu, values: Any, *, dtype: str, regime: Regime) -> Any:
    """Return the time to cast `values` values of 16 bits, or of each where it is an array."""
    total: Any = 0.0
    for kernel in KERNELS.get(dtype, ()):
        total = total + of_kernel(gpu, kernel, values, dtype=dtype, regime=regime)
    return total


def of_kernel(gpu: Gpu, kernel: str, values: Any, *, dtype: str, regime: Regime) -> Any:
    """Return the time of one of the kernels that a cast consists of."""
    constants = gpu.kernels.gemm.casts[kernel]
    nbytes = values * (READ_BYTES + (0.0 if kernel == "absmax" else gemm.ELEMENT_BYTES[dtype]))
    kept = 0.0 if regime == "training" or not gpu.cache else np.clip(1 - (nbytes / gpu.cache - 1) / THRASHES, 0.0, 1.0)
    moving = np.maximum(
        nbytes * (1 - kept) / (gpu.memory_bandwidth * constants.memory), nbytes / (constants.load * gpu.sms)
    )
    p = constants.overlap
    return (constants.start**p + moving**p) ** (1 / p)
