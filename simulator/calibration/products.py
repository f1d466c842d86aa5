"""Factors on the rate of matrix products from a user's own table of m, n, k and time."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from statistics import median
from typing import NamedTuple

from simulator.calibration.shrinking import shrunk
from simulator.convert import plain_csv
from simulator.errors import ScenarioError
from simulator.machine.hardware import Gpu
from simulator.machine.kernels import gemm
from simulator.scenario.calibration import Evidence
from simulator.sums import added
from simulator.units import Number, Seconds

TIMES = {"time_us": 1e-6, "time_ms": 1e-3, "time_s": 1.0, "time": 1.0, "seconds": 1.0, "us": 1e-6, "ms": 1e-3}
MOST_ROWS = 100_000


class Product(NamedTuple):
    m: int
    n: int
    k: int
    groups: int
    dtype: str
    seconds: Seconds


def parse(text: str, name: str) -> tuple[Product, ...]:
    """Return the products in a CSV with columns m, n, k, a time (time_us, time_ms, time_s), and maybe dtype, groups."""
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
        dtype = (row.get(columns["dtype"]) or "bf16").strip() if "dtype" in columns else "bf16"
        found.append(Product(m, n, k, groups, dtype, TIMES[time] * _number(row, columns[time], f"{name}:{line}")))
    if not found:
        raise ScenarioError(f"{name}: no rows")
    return tuple(found)


def learned(products: Sequence[Product], gpu: Gpu, source: str) -> tuple[dict[str, Number], Evidence]:
    """Return the factor on the rate of each precision, and how wrong the times were before and after.

    The factor is the median of predicted over measured time, so that shapes that a kernel library does badly count as
    one row each.
    """
    ratios: dict[str, list[float]] = defaultdict(list)
    for one in products:
        ratios[one.dtype].append(_predicted(one, gpu) / one.seconds)
    factors = {dtype: shrunk(median(ones), len(ones)) for dtype, ones in sorted(ratios.items())}
    before = _error([ratio for ones in ratios.values() for ratio in ones])
    after = _error([ratio / factors[dtype] for dtype, ones in ratios.items() for ratio in ones])
    return factors, Evidence(source=f"matrix products: {source}", rows=len(products), before=before, after=after)


def _predicted(one: Product, gpu: Gpu) -> Seconds:
    return gemm.time(gpu, one.m, one.n, one.k, groups=one.groups, dtype=one.dtype)


def _error(ratios: Sequence[float]) -> Number:
    return added(abs(ratio - 1) for ratio in ratios) / len(ratios)


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
