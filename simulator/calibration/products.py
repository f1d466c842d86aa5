"""Factors on the rate of matrix products from a user's own table of m, n, k and time."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from statistics import median
from typing import NamedTuple

from simulator import catalog
from simulator.calibration import gemm as fit
from simulator.calibration.shrinking import shrunk
from simulator.convert import plain_csv
from simulator.engine.prices.calibrated import with_kernels
from simulator.errors import ScenarioError
from simulator.machine.hardware import Gpu
from simulator.machine.kernels import gemm
from simulator.machine.kernels.gemm import Regime
from simulator.scenario.calibration import Evidence, Kernel
from simulator.sums import added
from simulator.units import Count, Number
from simulator.validation.measured_product import CAST, Product, by_operation, regime_of

TIMES = {"time_us": 1e-6, "time_ms": 1e-3, "time_s": 1.0, "time": 1.0, "seconds": 1.0, "us": 1e-6, "ms": 1e-3}
MOST_ROWS = 100_000
MOST_NAMES = 12


ENOUGH = 40
"""Shapes from which on the constants of a precision are fitted; fewer say one factor."""


def parse(text: str, name: str) -> tuple[Product, ...]:
    """Return the products in a CSV with columns m, n, k and a time (time_us, time_ms, time_s).

    It may also have dtype, groups, gpu, op, regime and includes, as tables that `foretrain validate` reads.
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
        words = {key: _word(row, columns, key) for key in ("dtype", "gpu", "regime", "includes", "op")}
        seconds = TIMES[time] * _number(row, columns[time], f"{name}:{line}")
        when = _regime(words["regime"], f"{name}:{line}")
        cast = math.nan if CAST in words["includes"] else 0.0
        dtype = words["dtype"] or "bf16"
        sides, accumulate = by_operation(words["op"], m, n, k)
        found.append(Product(words["gpu"], dtype, groups, *sides, accumulate, when, seconds, cast, ()))
    if not found:
        raise ScenarioError(f"{name}: no rows")
    return tuple(found)


class Learned(NamedTuple):
    """What a table says of one GPU, by precision."""

    factors: dict[str, Number]
    kernels: dict[str, Kernel]
    evidence: Evidence


def learned(products: Sequence[Product], gpu: Gpu, source: str) -> Learned:
    """Return constants of each precision with many rows, factors on the rate of others, and errors before and after.

    A factor is the median of predicted over measured time, so that shapes that a kernel library does badly count as
    one row each. Raises ScenarioError where no row is of `gpu`.
    """
    own = [one for one in products if not one.gpu or _names(one.gpu, gpu)]
    if not own:
        raise ScenarioError(f"{source}: no row of {gpu.name}; it has those of {', '.join(_gpus(products))}")
    groups: dict[str, list[Product]] = defaultdict(list)
    for one in own:
        groups[one.dtype].append(one)
    before = {dtype: _ratios(ones, gpu) for dtype, ones in sorted(groups.items())}
    kernels = {dtype: _kernel(groups[dtype], gpu) for dtype in before if _shapes(groups[dtype]) >= ENOUGH}
    factors = {dtype: shrunk(median(ones), len(ones)) for dtype, ones in before.items() if dtype not in kernels}
    after = {
        dtype: _ratios(groups[dtype], with_kernels(gpu, kernels))
        if dtype in kernels
        else [ratio / factors[dtype] for ratio in ones]
        for dtype, ones in before.items()
    }
    errors = [_error([ratio for ones in each.values() for ratio in ones]) for each in (before, after)]
    return Learned(
        factors,
        kernels,
        Evidence(source=f"matrix products: {source}", rows=len(own), before=errors[0], after=errors[1]),
    )


def _shapes(rows: Sequence[Product]) -> Count:
    return len({(one.groups, one.m, one.n, one.k) for one in rows})


def _kernel(rows: Sequence[Product], gpu: Gpu) -> Kernel:
    """Return what a table says of one precision on one GPU, from what is known of it on."""
    dtype = rows[0].dtype
    constants = gpu.kernels.gemm
    formats = {**constants.formats, dtype: gemm.of_format(gpu, dtype)}
    found = fit.one_gpu(fit.batches(rows, gpu), replace(constants, formats=formats), dtype, fit.UNKNOWN, fit.as_given)
    return Kernel(**{field.name: getattr(found, field.name) for field in fields(Kernel)})


def _ratios(rows: Sequence[Product], gpu: Gpu) -> list[Number]:
    """Return predicted over measured times."""
    return [float(ratio) for batch in fit.batches(rows, gpu) for ratio in fit.of_gpu(batch, gpu) / batch.seconds]


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
        return regime_of(text)
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
