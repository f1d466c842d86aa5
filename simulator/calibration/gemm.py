"""Fit the constants of matrix products to a table of measured ones.

Of each architecture, the GPU with most half-precision rows gives the constants of tiles, waves and memory; its other
GPUs get a rate of their own. Eight-bit rows give that precision's start, rate and ramp. Accumulating rows give the
share of the rate that adding into fp32 leaves.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from simulator import catalog
from simulator.calibration import kernels
from simulator.machine import hardware
from simulator.machine.kernels import gemm
from simulator.machine.kernels.constants import GemmConstants, gemm_constants
from simulator.units import Seconds

TABLE = "gemm"
"""The catalog entry that the fit starts from and rewrites."""
FEWEST_ROWS = 4
HALF, EIGHT_BIT = ("fp16", "bf16"), ("fp8",)
TILES = ("start.bf16", "memory", "rate.bf16", "ramp.bf16", "edge", "overlap", "tail", "split")
OWN = ("rate.bf16", "accumulate")
UNKNOWN, SIBLING = 0.5, 0.05
"""Deviations of the logarithm of a constant: from the default, and between GPUs of one architecture."""
HEADER = """Constants of matrix products by architecture; what each means is in simulator/machine/kernels/constants.py.
Written by simulator.calibration.gemm from simulator/validation/data/gemm.csv; prior values in `default`."""


class Product(NamedTuple):
    """One measured product."""

    gpu: str
    dtype: str
    groups: int
    m: int
    n: int
    k: int
    accumulate: bool
    seconds: Seconds
    weight: tuple[int, int]
    """Weight shape as printed; rows that share it are left out together."""


def products(path: Path) -> list[Product]:
    """Return the rows of a table of products."""
    return [_product(row) for row in kernels.table(path)]


def rewritten(rows: Sequence[Product]) -> str:
    """Return the text of the catalog entry with everything that `rows` can say fitted again."""
    entry = catalog.entry("calibration", TABLE)
    constants, half = fitted(rows), _by_gpu(rows, HALF)
    for architecture, names in _architectures(constants).items():
        reference = max(half.keys() & names or names, key=_watts_per_teraflop)
        eight_bit = any(row.dtype in EIGHT_BIT for row in rows if row.gpu in names)
        paths = (*(TILES if half.keys() & names else ()), *(_eight_bit(half.keys() & names) if eight_bit else ()))
        entry["watts_per_teraflop"][architecture] = kernels.rounded(_watts_per_teraflop(reference))
        entry["architectures"][architecture] = _overlay(constants[reference], paths)
        for name in names:
            entry["gpus"][name] = _overlay(constants[name], ("rate.bf16",) if name in half else ())
            if any(row.accumulate for row in half.get(name, ())):
                entry["default"]["accumulate"] = kernels.rounded(constants[name].accumulate)
    return kernels.text(entry, HEADER)


def predictions(constants: Mapping[str, GemmConstants], rows: Iterable[Product]) -> np.ndarray:
    """Return the seconds of `rows` by the constants of their GPU."""
    gpus = {
        name: hardware.calibrated(gpu, replace(gpu.kernels, gemm=values))
        for name, values in constants.items()
        for gpu in (hardware.gpu(name),)
    }
    time = gemm.time.__wrapped__
    return np.array(
        [time(gpus[r.gpu], r.m, r.n, r.k, groups=r.groups, dtype=r.dtype, accumulate=r.accumulate) for r in rows]
    )


def fitted(rows: Sequence[Product]) -> dict[str, GemmConstants]:
    """Return the constants of every GPU with rows, from the catalog's default on; with few rows they stay there."""
    default = gemm_constants(catalog.entry("calibration", TABLE)["default"])
    constants = dict.fromkeys({row.gpu for row in rows}, default)
    for names in _architectures(constants).values():
        _fit_architecture([row for row in rows if row.gpu in names], constants)
    return constants


def _fit_architecture(rows: Sequence[Product], constants: dict[str, GemmConstants]) -> None:
    half, narrow = _by_gpu(rows, HALF), _by_gpu(rows, EIGHT_BIT)
    largest = max(half, key=lambda name: len(half[name]), default=None)
    if largest is not None:
        constants[largest] = fitted_tiles = _moved(constants[largest], TILES, half[largest], UNKNOWN)
        for name in {row.gpu for row in rows} - {largest}:
            constants[name] = fitted_tiles
        for name in half.keys() - {largest}:
            adds = any(row.accumulate for row in half[name])
            constants[name] = _moved(constants[name], OWN if adds else OWN[:1], half[name], SIBLING)
    if narrow:
        together = [row for group in narrow.values() for row in group]
        moved = _moved(constants[together[0].gpu], _eight_bit(half), together, UNKNOWN)
        for name in {row.gpu for row in rows}:
            for path in _eight_bit(half):
                constants[name] = _with(constants[name], path, _value(moved, path))


def _eight_bit(half: Collection[str]) -> tuple[str, ...]:
    """Return what eight-bit rows can say, given the GPUs of the architecture with half-precision rows."""
    return ("start.fp8", "rate.fp8", "ramp.fp8") if half else ("issue", "rate.fp8", "ramp.fp8")


def _architectures(names: Iterable[str]) -> dict[str, list[str]]:
    groups = defaultdict(list)
    for name in sorted(names):
        groups[hardware.gpu(name).architecture].append(name)
    return groups


def _watts_per_teraflop(name: str) -> float:
    gpu = hardware.gpu(name)
    return gpu.power / (gpu.peak_of("bf16") / 1e12)


def _overlay(constants: GemmConstants, paths: Sequence[str]) -> dict[str, Any]:
    """Return the values at `paths` as the text of an entry."""
    entry: dict[str, Any] = {}
    for path in paths:
        name, _, dtype = path.partition(".")
        value = _value(constants, path)
        text = kernels.rounded(value * 1e6) + "us" if name in ("start", "issue") else kernels.rounded(value)
        if dtype:
            entry.setdefault(name, {})[dtype] = text
        else:
            entry[name] = text
    return entry


def _moved(constants: GemmConstants, paths: Sequence[str], rows: Sequence[Product], spread: float) -> GemmConstants:
    """Return `constants` with the values at `paths` fitted to `rows`; each shape counts once."""
    rows, measured = _distinct(rows)
    names = {row.gpu for row in rows}

    def moved(values: Iterable[float]) -> GemmConstants:
        result = constants
        for path, value in zip(paths, values, strict=True):
            result = _with(result, path, _bounded(path, float(value)))
        return result

    start = [_unbounded(path, _value(constants, path)) for path in paths]
    best = kernels.fit(lambda values: predictions(dict.fromkeys(names, moved(values)), rows), measured, start, spread)
    return moved(best)


def _distinct(rows: Sequence[Product]) -> tuple[list[Product], np.ndarray]:
    """Return one row a shape with the median of its times; frameworks profile the same shape for several models."""
    times = defaultdict(list)
    for row in rows:
        times[row._replace(seconds=0.0)].append(row.seconds)
    return list(times), np.array([np.median(values) for values in times.values()])


def _value(constants: GemmConstants, path: str) -> float:
    name, _, dtype = path.partition(".")
    value = getattr(constants, name)
    return float(value[dtype] if dtype else value)


def _with(constants: GemmConstants, path: str, value: float) -> GemmConstants:
    name, _, dtype = path.partition(".")
    changed = {**getattr(constants, name), dtype: value} if dtype else value
    return replace(constants, **{name: changed})  # type: ignore[arg-type]


def _unbounded(path: str, value: float) -> float:
    """Return a positive number without upper bound that stands for `value`."""
    if path == "overlap":
        return value - 1
    return value / (1 - value) if path == "tail" else max(value, 1e-5 if path == "issue" else 0.0)


def _bounded(path: str, value: float) -> float:
    if path == "overlap":
        return value + 1
    if path == "tail":
        return value / (1 + value)
    return min(value, 1.0) if path.startswith(("rate", "memory", "accumulate")) else value


def _by_gpu(rows: Sequence[Product], dtypes: Sequence[str]) -> dict[str, list[Product]]:
    groups = defaultdict(list)
    for row in rows:
        if row.dtype in dtypes:
            groups[row.gpu].append(row)
    return {name: group for name, group in groups.items() if len(group) >= FEWEST_ROWS}


def _product(row: Mapping[str, str]) -> Product:
    m, n, k = (int(float(row[name])) for name in "mnk")
    weight = (n, k)
    if row["op"].startswith("grouped bwd_grad_w"):
        m, n, k = n, k, m
    gpu = catalog.canonical("gpu", row["gpu"])
    adds = "accum=True" in row["op"]
    return Product(gpu, row["dtype"], int(row["groups"]), m, n, k, adds, float(row["time_us"]) * 1e-6, weight)
