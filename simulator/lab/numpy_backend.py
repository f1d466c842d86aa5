"""Arithmetic by numpy, which is always there: the BLAS library it was built with, on all processors."""

from __future__ import annotations

import os
import platform

import numpy as np

from simulator.lab.backend import Work
from simulator.units import Count

DTYPES = {"fp32": np.float32, "fp64": np.float64}


class NumpyBackend:
    name = "numpy"
    dtypes: tuple[str, ...] = ("fp32",)

    def __init__(self) -> None:
        self.device = f"{platform.machine() or 'a machine'} with {os.cpu_count()} processors"

    def product(self, m: Count, n: Count, k: Count, dtype: str) -> Work:
        random = np.random.default_rng(0)
        a = random.standard_normal((m, k)).astype(DTYPES[dtype])
        b = random.standard_normal((k, n)).astype(DTYPES[dtype])
        out = np.empty((m, n), DTYPES[dtype])
        return lambda: np.matmul(a, b, out=out)

    def add(self, elements: Count, dtype: str) -> Work:
        a, b, out = (np.ones(elements, DTYPES[dtype]) for _ in range(3))
        return lambda: np.add(a, b, out=out)
