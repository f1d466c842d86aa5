"""Matrix products: kernel time by shape."""

from __future__ import annotations

from typing import ClassVar

from simulator.machine.hardware import Gpu
from simulator.machine.kernels import gemm
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
        adds = any(word in row.text("op") for word in ADDS)
        seconds = gemm.time(gpu, m, n, k, groups=row.whole("groups") or 1, dtype=row.text("dtype"), accumulate=adds)
        return Answer(*self.measurement(row), seconds * 1e6)

    def size_class(self, row: Row) -> str:
        return f"m >= {LARGE}" if (row.whole("m") or 0) >= LARGE else f"m < {LARGE}"
