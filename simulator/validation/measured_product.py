"""One row of a table of measured matrix products, read once for predictions and for fits."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple
from zlib import crc32

from simulator import catalog
from simulator.errors import ScenarioError
from simulator.machine.kernels import casts, gemm
from simulator.machine.kernels.gemm import REGIMES, Regime
from simulator.units import Seconds

MOST_CONSTANT = 3e13
"""Operations above which products of memory that was never written are left out: constant bits need less power, so that
they run at a clock that no real data gets (H200: 660 TFLOP/s below, 816 above)."""


BENCHMARK: Regime = "burst"
"""Regime of a table that names none: benchmarks repeat a kernel some tens of times."""
CAST = "cast"
"""How the column `includes` of a table says that times hold the cast of the left operand."""
ADDS = ("accum=True", "accumulate=True")
"""How the `op` of a row says that the product adds into an fp32 result."""


class Product(NamedTuple):
    """One measured product."""

    gpu: str
    dtype: str
    groups: int
    m: int
    n: int
    k: int
    accumulate: bool
    regime: Regime
    seconds: Seconds
    cast: Seconds
    """Time of casts that the row holds: nought where it holds none, not a number where they were not measured alone."""
    kernels: tuple[Seconds, ...]
    """Each of these, in the order of `simulator.machine.kernels.casts.KERNELS`."""

    @property
    def half(self) -> int:
        """0 or 1, by a hash of the shape: rows of one shape are fitted or left out together on all GPUs."""
        return crc32(f"{self.m} {self.n} {self.k}".encode()) % 2


def constant(row: Mapping[str, str]) -> bool:
    """Return whether the time is that of memory that was never written, at a clock that no real data gets."""
    m, n, k = (int(float(row[name])) for name in "mnk")
    return row.get("weights") == "not initialised" and gemm.flops(m, n, k) > MOST_CONSTANT


def product(row: Mapping[str, str]) -> Product:
    """Return the product of a row, whose GPU may be an alias; raise ScenarioError where a name is not known."""
    m, n, k = (int(float(row[name])) for name in "mnk")
    (m, n, k), accumulate = by_operation(row.get("op", ""), m, n, k)
    alone = tuple(us * 1e-6 for name in ("absmax_us", "quantise_us") if (us := float(row.get(name) or 0)) > 0)
    dtype = row["dtype"]
    seconds = float(row["time_us"]) * 1e-6
    cast = 0.0
    if CAST in row.get("includes", ""):
        cast = sum(alone) if alone and len(alone) == len(casts.KERNELS.get(dtype, ())) else math.nan
    return Product(
        gpu=catalog.canonical("gpu", row["gpu"]),
        dtype=dtype,
        groups=int(row.get("groups") or 1),
        m=m,
        n=n,
        k=k,
        accumulate=accumulate,
        regime=regime_of(row.get("regime", "")),
        seconds=seconds,
        cast=cast,
        kernels=alone if cast > 0 else (),
    )


def by_operation(name: str, m: int, n: int, k: int) -> tuple[tuple[int, int, int], bool]:
    """Return the sides of the product that the column `op` names, and whether it adds into an fp32 result.

    Tables write weight gradients of groups as the forward product: their depth is its rows.

    >>> by_operation("grouped bwd_grad_w accum=True", 16, 32, 64)
    ((32, 64, 16), True)
    """
    sides = (n, k, m) if name.startswith("grouped bwd_grad_w") else (m, n, k)
    return sides, any(word in name for word in ADDS)


def regime_of(text: str) -> Regime:
    """Return the regime that a table names, that of benchmarks where it says nothing; raises ScenarioError."""
    for known in REGIMES:
        if text == known:
            return known
    if text:
        raise ScenarioError(f"regime: found {text[:40]!r}, expected one of {', '.join(REGIMES)}")
    return BENCHMARK
