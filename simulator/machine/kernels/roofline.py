"""The roofline: a kernel is bound by arithmetic or by memory.

Williams, Waterman, Patterson, "Roofline: an insightful visual performance model", CACM 52 (2009).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.units import Bytes, Flops, FlopsPerSecond, Number, Seconds

if TYPE_CHECKING:
    from simulator.machine.hardware import Gpu


def ridge(gpu: Gpu, dtype: str = "bf16") -> Number:
    """Return the FLOPs a byte above which arithmetic is the bound: 295 on H100 in bf16."""
    return gpu.peak_of(dtype) / gpu.memory_bandwidth


def attainable(gpu: Gpu, intensity: Number, dtype: str = "bf16") -> FlopsPerSecond:
    """Return the most FLOP/s at `intensity` FLOPs a byte."""
    return min(gpu.peak_of(dtype), intensity * gpu.memory_bandwidth)


def time(gpu: Gpu, flops: Flops, nbytes: Bytes, dtype: str = "bf16") -> Seconds:
    """Return the least time of a kernel that does `flops` and moves `nbytes`."""
    return max(flops / gpu.peak_of(dtype) if flops else 0.0, nbytes / gpu.memory_bandwidth)
