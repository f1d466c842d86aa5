"""Matrix products: kernel time by shape, with the casts that a row says it includes.

A row without `regime` is a short benchmark: those who time kernels repeat each some tens of times. A row without
`includes` is the product alone.
"""

from __future__ import annotations

from typing import ClassVar

from simulator.machine.hardware import Gpu
from simulator.machine.kernels import casts, gemm
from simulator.validation.measured_product import product
from simulator.validation.row import Row
from simulator.validation.suites.kernels import Answer, Kernels

LARGE = 1024


class Gemm(Kernels):
    kind: ClassVar[str] = "gemm"
    prefix: ClassVar[str] = "gemm"
    columns: ClassVar[frozenset[str]] = frozenset({"gpu", "dtype", "m", "n", "k", "time_us"})
    numbers: ClassVar[frozenset[str]] = frozenset({"groups", "m", "n", "k", "time_us", "tflops"})

    def answer(self, row: Row, gpu: Gpu) -> Answer:
        one = product(row.texts)
        seconds = gemm.time(
            gpu, one.m, one.n, one.k, groups=one.groups, dtype=one.dtype, accumulate=one.accumulate, regime=one.regime
        )
        if one.cast:
            seconds += casts.time(gpu, one.groups * one.m * one.k, dtype=one.dtype, regime=one.regime)
        return Answer(*self.measurement(row), seconds * 1e6)

    def size_class(self, row: Row) -> str:
        return f"m >= {LARGE}" if (row.whole("m") or 0) >= LARGE else f"m < {LARGE}"
