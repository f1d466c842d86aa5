"""Matrix products: kernel time by shape, with the casts that a row says it includes.

A row without `regime` is a short benchmark: those who time kernels repeat each some tens of times. A row without
`includes` is the product alone.
"""

from __future__ import annotations

from typing import ClassVar

from simulator.machine.hardware import Gpu
from simulator.machine.kernels import casts, gemm
from simulator.validation.row import Row
from simulator.validation.suites.kernels import Answer, Kernels

ADDS = ("accum=True", "accumulate=True")
"""How the `op` of a row says that the product adds into an fp32 result."""
LARGE = 1024


class Gemm(Kernels):
    kind: ClassVar[str] = "gemm"
    prefix: ClassVar[str] = "gemm"
    columns: ClassVar[frozenset[str]] = frozenset({"gpu", "dtype", "m", "n", "k", "time_us"})
    numbers: ClassVar[frozenset[str]] = frozenset({"groups", "m", "n", "k", "time_us", "tflops"})

    def answer(self, row: Row, gpu: Gpu) -> Answer:
        m, n, k = (row.whole(name) or 0 for name in "mnk")
        adds, dtype = any(word in row.text("op") for word in ADDS), row.text("dtype")
        when = gemm.regime_of(row.text("regime"))
        groups = row.whole("groups") or 1
        seconds = gemm.time(gpu, m, n, k, groups=groups, dtype=dtype, accumulate=adds, regime=when)
        if gemm.CAST in row.text("includes"):
            seconds += casts.time(gpu, groups * m * k, dtype=dtype, regime=when)
        return Answer(*self.measurement(row), seconds * 1e6)

    def size_class(self, row: Row) -> str:
        return f"m >= {LARGE}" if (row.whole("m") or 0) >= LARGE else f"m < {LARGE}"
