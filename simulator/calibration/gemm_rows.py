"""Rows of tables of measured matrix products, with what their time includes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

from simulator import catalog
from simulator.calibration import kernels
from simulator.machine.kernels import casts, gemm
from simulator.machine.kernels.gemm import Regime
from simulator.units import Seconds

MOST_CONSTANT = 3e13
"""Operations above which products of memory that was never written are left out: constant bits need less power, so that
they run at a clock that no real data gets (H200: 660 TFLOP/s below, 816 above)."""


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


def products(path: Path) -> list[Product]:
    """Return the rows of a table of products that say something about real data."""
    return [one for row in kernels.table(path) if (one := _product(row))]


def _product(row: Mapping[str, str]) -> Product | None:
    m, n, k = (int(float(row[name])) for name in "mnk")
    kind = row.get("op", "")
    if row.get("weights") == "not initialised" and gemm.flops(m, n, k) > MOST_CONSTANT:
        return None
    if kind.startswith("grouped bwd_grad_w"):
        m, n, k = n, k, m
    alone = tuple(us * 1e-6 for name in ("absmax_us", "quantise_us") if (us := float(row.get(name) or 0)) > 0)
    dtype = row["dtype"]
    cast = 0.0
    if gemm.CAST in row.get("includes", ""):
        cast = sum(alone) if len(alone) == len(casts.KERNELS[dtype]) else math.nan
    return Product(
        gpu=catalog.canonical("gpu", row["gpu"]),
        dtype=dtype,
        groups=int(row.get("groups") or 1),
        m=m,
        n=n,
        k=k,
        accumulate="accum=True" in kind,
        regime=gemm.regime_of(row.get("regime", "")),
        seconds=float(row["time_us"]) * 1e-6,
        cast=cast,
        kernels=alone if cast > 0 else (),
    )
