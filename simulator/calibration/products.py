"""Factors on the rate of matrix products from a user's own table of m, n, k and time."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from statistics import median
from typing import NamedTuple

from simulator import catalog
from simulator.calibration.shrinking import shrunk
from simulator.convert import plain_csv
from simulator.errors import ScenarioError
from simulator.machine.hardware import Gpu
from simulator.machine.kernels import casts, gemm
from simulator.machine.kernels.gemm import CAST, Regime
from simulator.scenario.calibration import Evidence
from simulator.sums import added
from simulator.units import Number, Seconds

TIMES = {"time_us": 1e-6, "time_ms": 1e-3, "time_s": 1.0, "time": 1.0, "seconds": 1.0, "us": 1e-6, "ms": 1e-3}
MOST_ROWS = 100_000
MOST_NAMES = 12


class Product(NamedTuple):
    m: int
    n: int
    k: int
    groups: int
    dtype: str
    seconds: Seconds
    gpu: str = ""
    """As the table names it; nothing where it does not."""
    regime: Regime = gemm.BENCHMARK
    cast: bool = False
    """Whether the time holds the cast of the left operand."""


def parse(text: str, name: str) -> tuple[Product, ...]:
    """Return the products in a CSV with columns m, n, k and a time (time_us, time_ms, time_s).

    It may also have dtype, groups, gpu, regime and includes, as tables that `foretrain validate` reads.
    """
    try:
        header, rows = plain_csv.table(text)
    except ValueError as error:
        raise ScenarioError(f"{name}: {error}") from None
    columns = {column.strip().lower(): column for column in header if column}
    time = next((column for column in TIMES if column in columns), None)
    missing = [key for key in "mnk" if key not in columns] + ([] if time else ["time_us"])
    if missing or time is None:
        raise ScenarioError(f"{name}:1: no column {', '.join(missing)}; a table of products has m, n, k and time_us")
    found: list[Product] = []
    for line, row in enumerate(rows, start=2):
        if len(found) >= MOST_ROWS:
            raise ScenarioError(f"{name}: more than {MOST_ROWS:,} rows")
        m, n, k = (_whole(row, columns[key], f"{name}:{line}") for key in "mnk")
        groups = _whole(row, columns["groups"], f"{name}:{line}") if "groups" in columns else 1
        words = {key: _word(row, columns, key) for key in ("dtype", "gpu", "regime", "includes")}
        seconds = TIMES[time] * _number(row, columns[time], f"{name}:{line}")
        when = _regime(words["regime"], f"{name}:{line}")
        cast = CAST in words["includes"]
        found.append(Product(m, n, k, groups, words["dtype"] or "bf16", seconds, words["gpu"], when, cast))
    if not found:
        raise ScenarioError(f"{name}: no rows")
    return tuple(found)


def learned(products: Sequence[Product], gpu: Gpu, source: str) -> tuple[dict[str, Number], Evidence]:
    """Return the factor on the rate of each precision, and how wrong the times were before and after.

    The factor is the median of predicted over measured time, so that shapes that a kernel library does badly count as
    one row each.
    """
    ratios: dict[str, list[float]] = defaultdict(list)
    own = [one for one in products if not one.gpu or _names(one.gpu, gpu)]
    if not own:
        raise ScenarioError(f"{source}: no row of {gpu.name}; it has those of {', '.join(_gpus(products))}")
    for one in own:
        ratios[one.dtype].append(_predicted(one, gpu) / one.seconds)
    factors = {dtype: shrunk(median(ones), len(ones)) for dtype, ones in sorted(ratios.items())}
    before = _error([ratio for ones in ratios.values() for ratio in ones])
    after = _error([ratio / factors[dtype] for dtype, ones in ratios.items() for ratio in ones])
    return factors, Evidence(source=f"matrix products: {source}", rows=len(own), before=before, after=after)


def _predicted(one: Product, gpu: Gpu) -> Seconds:
    seconds = gemm.time(gpu, one.m, one.n, one.k, groups=one.groups, dtype=one.dtype, regime=one.regime)
    values = one.groups * one.m * one.k
    return seconds + (casts.time(gpu, values, dtype=one.dtype, regime=one.regime) if one.cast else 0.0)


def _names(text: str, gpu: Gpu) -> bool:
    """Return whether a name of a table means the GPU; names that the catalog does not know mean another."""
    try:
        return text == gpu.name or catalog.canonical("gpu", text) == gpu.name
    except ScenarioError:
        return False


def _gpus(products: Sequence[Product]) -> list[str]:
    return sorted({one.gpu for one in products})[:MOST_NAMES]


def _error(ratios: Sequence[float]) -> Number:
    return added(abs(ratio - 1) for ratio in ratios) / len(ratios)


def _word(row: Mapping[str, str | None], columns: Mapping[str, str], key: str) -> str:
    return (row.get(columns[key]) or "").strip() if key in columns else ""


def _regime(text: str, place: str) -> Regime:
    try:
        return gemm.regime_of(text)
    except ScenarioError as error:
        raise ScenarioError(f"{place}: {error}") from None


def _whole(row: Mapping[str, str | None], column: str, place: str) -> int:
    value = _number(row, column, place)
    if value != round(value):
        raise ScenarioError(f"{place}: {column}: expected a whole number, found {value:g}")
    return round(value)


def _number(row: Mapping[str, str | None], column: str, place: str) -> float:
    text = (row.get(column) or "").strip()
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value) or value <= 0 or value > 1e12:
        raise ScenarioError(f"{place}: {column}: expected a number above zero, found {text[:40]!r}")
    return value
