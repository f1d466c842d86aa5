"""Fit the constants of matrix products and of their casts to tables of measured ones.

Each architecture gets one set of constants a number format, from the rows of all its GPUs; a GPU with rows gets a few
of its own beside it, held to those of the architecture. Rows that name casts in `includes` hold them in their time:
casts measured alone are taken off, others are fitted along.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from simulator import catalog
from simulator.machine import hardware
from simulator.machine.hardware import Gpu
from simulator.machine.kernels import casts, gemm
from simulator.machine.kernels.constants import CastConstants, GemmConstants, ProductConstants, gemm_constants, powered
from simulator.validation.measured_product import Product

FEWEST_ROWS, FEW_ROWS = 4, 100
"""Rows below which nothing is fitted, and rows below which none is left out."""
BOUNDS = {
    "rate": (0.0, 1.0),
    "tail": (0.0, 1.0),
    "memory": (0.0, 1.0),
    "resident": (0.0, 1.0),
    "throttle": (0.2, 1.0),
    "settle": (1e-3, 1e-2),
}
"""What constants can be; a clock falls within milliseconds a kernel, or its rows show something else."""
FREE = (
    "rate", "edge", "load", "latency", "fill", "epilogue", "tail", "overlap", "memory", "l2", "resident", "start",
    "split", "passes", "throttle", "settle",
)  # fmt: skip
OWN = ("rate", "edge", "memory", "l2", "start", "throttle")
"""What differs between GPUs of one architecture: clocks, memory, power."""
CAST = ("start", "memory", "load", "overlap")
UNKNOWN, SIBLING = 0.5, 0.1
"""Deviations of the logarithm of a constant: from the default, and between GPUs of one architecture."""
FURTHEST = 3.0
"""Log distance that a constant may move."""
SCATTER = 0.05
"""Log error of one kernel beyond which it counts less: libraries choose tiles by the roll of a die."""
HALF = {"fp16": "bf16"}
"""Formats of equal kernels."""
TABLE = "gemm"
"""The catalog entry that the fit starts from and rewrites."""

Known = Callable[[Gpu, GemmConstants], Gpu]
"""A GPU with constants that it shares with others."""


class Fitted(NamedTuple):
    """Constants of one format: those of the architecture, and of each GPU with rows."""

    product: ProductConstants
    casts: Mapping[str, CastConstants]
    gpus: Mapping[str, ProductConstants]


class Batch(NamedTuple):
    """Rows of one GPU, format and regime as arrays."""

    gpu: Gpu
    dtype: str
    regime: gemm.Regime
    accumulate: bool
    shape: gemm.Shape
    aligned: np.ndarray
    seconds: np.ndarray
    cast: np.ndarray
    """Time of casts measured alone; not a number where they are to be predicted, nought where the row holds none."""


def priors(architecture: str) -> GemmConstants:
    """Return the constants that fits of an architecture start from and are held to."""
    entry = catalog.entry("calibration", TABLE)
    known = {key: value for key, value in entry["architectures"].get(architecture, {}).items() if key == "issue"}
    return gemm_constants(entry["default"] | entry["priors"] | known)


def batches(rows: Iterable[Product], gpu: Gpu | None = None) -> list[Batch]:
    """Return `rows` as arrays; they are of `gpu`, or of those that they name."""
    groups: dict[tuple[str, str, gemm.Regime, bool], list[Product]] = defaultdict(list)
    for row in rows:
        groups[row.gpu, row.dtype, row.regime, row.accumulate].append(row)
    return [_batch(group, gpu or hardware.gpu(group[0].gpu)) for group in groups.values()]


def _batch(rows: Sequence[Product], gpu: Gpu) -> Batch:
    dtype, regime, accumulate = rows[0].dtype, rows[0].regime, rows[0].accumulate
    m, n, k, groups = (np.array([getattr(row, name) for row in rows], float) for name in ("m", "n", "k", "groups"))
    unaligned = gpu.kernels.gemm.unaligned
    aligned = np.array([gemm.alignment(unaligned, dtype, (r.m, r.n) if accumulate else (r.k,)) for r in rows])
    seconds, cast = (np.array([getattr(row, name) for row in rows], float) for name in ("seconds", "cast"))
    return Batch(gpu, dtype, regime, accumulate, gemm.Shape(m, n, k, groups), aligned, seconds, cast)


def of_architecture(gpu: Gpu, constants: GemmConstants) -> Gpu:
    """Return `gpu` with `constants` of its architecture."""
    return _with(gpu, powered(constants, gpu))


def of_unknown(gpu: Gpu, constants: GemmConstants) -> Gpu:
    """Return `gpu` with `constants` of an architecture that nobody measured."""
    return _with(gpu, powered(constants, gpu, known=False))


def of_gpu(batch: Batch, gpu: Gpu) -> np.ndarray:
    """Return the seconds of a batch on `gpu`, casts that the rows hold included."""
    cast, dtype, regime = batch.cast, batch.dtype, batch.regime
    if np.isnan(cast).any():
        values = batch.shape.groups * batch.shape.m * batch.shape.k
        cast = np.where(np.isnan(cast), casts.seconds(gpu, values, dtype=dtype, regime=regime), cast)
    product = gemm.seconds(
        gpu, batch.shape, dtype=dtype, regime=regime, accumulate=batch.accumulate, aligned=batch.aligned
    )
    result: np.ndarray = product + cast
    return result


def _with(gpu: Gpu, constants: GemmConstants) -> Gpu:
    return hardware.calibrated(gpu, replace(gpu.kernels, gemm=constants))


def fitted(rows: Sequence[Product], prior: GemmConstants, dtype: str) -> Fitted:
    """Return the constants of one architecture in one format, from `prior` on, and those of its GPUs."""
    together, kept = shared(rows, prior, dtype, of_architecture)
    gpus = {}
    names = sorted({row.gpu for row in rows})
    for name in names if len(names) > 1 else ():
        own = [row for row in rows if row.gpu == name]
        if len(own) >= FEWEST_ROWS:
            gpus[name] = one_gpu(batches(own), together, dtype, SIBLING, of_architecture)
    return Fitted(together.formats[dtype], {kernel: together.casts[kernel] for kernel in kept}, gpus)


def as_given(gpu: Gpu, constants: GemmConstants) -> Gpu:
    """Return `gpu` with `constants` of its own."""
    return _with(gpu, constants)


def one_gpu(rows: Sequence[Batch], prior: GemmConstants, dtype: str, spread: float, known: Known) -> ProductConstants:
    """Return the constants of one GPU, each held to `prior` by the deviation `spread` of its logarithm."""
    paths = [f"product.{constant}" for constant in OWN if _free(prior, dtype, constant)]
    return _moved(prior, dtype, paths, rows, spread, known).formats[dtype]


def shared(
    rows: Sequence[Product], prior: GemmConstants, dtype: str, known: Known
) -> tuple[GemmConstants, tuple[str, ...]]:
    """Return the constants that all `rows` share, and the names of the casts among them."""
    prior, alone = _casts_alone(rows, prior)
    joint = casts.KERNELS.get(dtype, ()) if any(np.isnan(row.cast) for row in rows) else ()
    paths = [f"product.{name}" for name in FREE if _free(prior, dtype, name)]
    paths += [f"{kernel}.{name}" for kernel in joint for name in CAST]
    return _moved(prior, dtype, paths, batches(rows), UNKNOWN, known), (*alone, *joint)


def _casts_alone(rows: Sequence[Product], prior: GemmConstants) -> tuple[GemmConstants, tuple[str, ...]]:
    """Return `prior` with the casts that were measured as kernels of their own, and their names."""
    groups: dict[tuple[str, str, gemm.Regime], list[Product]] = defaultdict(list)
    for row in rows:
        if row.kernels:
            groups[row.gpu, row.dtype, row.regime].append(row)
    if not groups:
        return prior, ()
    names = casts.KERNELS[rows[0].dtype]
    constants = prior
    for place, kernel in enumerate(names):

        def errors(values: np.ndarray, place: int = place, kernel: str = kernel) -> np.ndarray:
            tried = _cast(values)
            found = []
            for (name, dtype, regime), group in groups.items():
                gpu = _with(hardware.gpu(name), replace(prior, casts={**prior.casts, kernel: tried}))
                sizes = np.array([row.groups * row.m * row.k for row in group], float)
                measured = np.array([row.kernels[place] for row in group])
                found.append(np.log(casts.of_kernel(gpu, kernel, sizes, dtype=dtype, regime=regime) / measured))
            return np.concatenate(found)

        paths = [f"{kernel}.{name}" for name in CAST]
        start = [_free_value(getattr(prior.casts[kernel], name), name) for name in CAST]
        constants = replace(constants, casts={**constants.casts, kernel: _cast(least(errors, start, paths, UNKNOWN))})
    return constants, names


def _cast(values: Iterable[float]) -> CastConstants:
    return CastConstants(**{name: _of_free(value, name) for name, value in zip(CAST, values, strict=True)})


def _free_value(value: float, name: str) -> float:
    """Return a positive number that stands for a constant: exponents are above one."""
    return value - 1 if name == "overlap" else value


def _of_free(value: float, name: str) -> float:
    return float(value) + 1 if name == "overlap" else float(value)


def _free(prior: GemmConstants, dtype: str, name: str) -> bool:
    """Return whether a constant takes part: what a kernel never does, its times cannot say."""
    constants = prior.formats[dtype]
    if name in ("split", "passes"):
        return constants.parts > 1
    if name == "start":
        return prior.issue == 0
    return bool(getattr(constants, name) > 0)


def _moved(
    prior: GemmConstants, dtype: str, paths: Sequence[str], rows: Sequence[Batch], spread: float, known: Known
) -> GemmConstants:
    """Return `prior` with the values at `paths`, of the product or of casts, fitted to `rows`."""

    def moved(values: Iterable[float]) -> GemmConstants:
        changed: dict[str, dict[str, float]] = defaultdict(dict)
        for path, value in zip(paths, values, strict=True):
            kind, name = path.split(".")
            changed[kind][name] = _of_free(value, name)
        product = replace(prior.formats[dtype], **changed.pop("product"))
        cast = {kernel: replace(prior.casts[kernel], **values) for kernel, values in changed.items()}
        return replace(prior, formats={**prior.formats, dtype: product}, casts={**prior.casts, **cast})

    def value(path: str) -> float:
        kind, name = path.split(".")
        return _free_value(getattr(prior.formats[dtype] if kind == "product" else prior.casts[kind], name), name)

    def errors(values: np.ndarray) -> np.ndarray:
        constants = moved(values)
        return np.concatenate([np.log(of_gpu(one, known(one.gpu, constants)) / one.seconds) for one in rows])

    return moved(least(errors, [value(path) for path in paths], paths, spread))


def least(
    errors: Callable[[np.ndarray], np.ndarray], start: Sequence[float], paths: Sequence[str], spread: float
) -> np.ndarray:
    """Return the positive values with the least robust log `errors`, each held to where it starts by `spread`."""
    from scipy.optimize import least_squares

    origin = np.log(np.asarray(start))
    limits = [BOUNDS.get(path.split(".")[1], (0.0, np.inf)) for path in paths]
    low, high = (np.log(np.maximum([limit[side] for limit in limits], 1e-300)) for side in (0, 1))
    low, high = np.maximum(low, origin - FURTHEST), np.minimum(high, origin + FURTHEST)

    def residuals(logs: np.ndarray) -> np.ndarray:
        return np.concatenate([errors(np.exp(logs)) / SCATTER, (logs - origin) / spread])

    begin = np.clip(origin, low + 1e-3, high - 1e-3)
    found = least_squares(residuals, begin, bounds=(low, high), loss="soft_l1", max_nfev=30, x_scale=0.3)
    values: np.ndarray = np.exp(found.x)
    return values
