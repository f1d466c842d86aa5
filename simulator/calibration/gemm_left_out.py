"""Constants of products on a GPU that nobody measured, and how wrong they are on GPUs that somebody did.

A GPU without rows takes what the others of its architecture share; an architecture without rows what all of them share,
its clock moved by the power that it has for its peak.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple
from zlib import crc32

import numpy as np

from simulator.calibration import gemm
from simulator.machine import hardware
from simulator.machine.kernels.constants import GemmConstants
from simulator.units import Count, Number
from simulator.validation.measured_product import Product

MOST_ROWS = 400
"""Rows of a GPU, format and regime that constants of all architectures are fitted to, so that each counts alike."""
LARGE = 1024
UNKNOWN = "unknown"


class Score(NamedTuple):
    """Errors, in ln, of one GPU, format and regime."""

    gpu: str
    dtype: str
    regime: str
    rows: Count
    middle: Number
    """Median of |error|."""
    most: Number
    """Its P90."""
    large: Number
    """The same of products of 1024 and more in every direction; not a number where there are none."""
    large_most: Number


def pooled(rows: Sequence[Product], dtype: str) -> tuple[GemmConstants, tuple[str, ...]]:
    """Return the constants that architectures share in a format, and the names of the casts among them."""
    return gemm.shared(sample(rows), gemm.priors(UNKNOWN), dtype, gemm.of_unknown)


def sample(rows: Sequence[Product]) -> list[Product]:
    """Return at most so many rows of each GPU, format and regime, by a hash of the shape."""
    groups: dict[tuple[str, ...], list[Product]] = defaultdict(list)
    for row in sorted(rows, key=lambda row: crc32(f"{row.m} {row.n} {row.k} {row.groups}".encode())):
        group = groups[row.gpu, row.dtype, row.regime]
        if len(group) < MOST_ROWS:
            group.append(row)
    return [row for group in groups.values() for row in group]


def without_gpu(rows: Sequence[Product], name: str) -> list[Score]:
    """Return how wrong products of a GPU are by what its architecture says without it."""
    architecture = hardware.gpu(name).architecture
    return _left_out(rows, {name}, [one for one in _gpus(rows) if hardware.gpu(one).architecture == architecture])


def without_architecture(rows: Sequence[Product], architecture: str) -> list[Score]:
    """Return how wrong products of an architecture are by what all others say."""
    return _left_out(rows, {one for one in _gpus(rows) if hardware.gpu(one).architecture == architecture}, ())


def _left_out(rows: Sequence[Product], names: set[str], siblings: Sequence[str]) -> list[Score]:
    found = []
    for dtype in sorted({_format(row) for row in rows if row.gpu in names}):
        own = [row for row in rows if _format(row) == dtype and row.gpu in names]
        others = [row for row in rows if _format(row) == dtype and row.gpu not in names]
        near = [row for row in others if row.gpu in siblings]
        if len(near or others) < gemm.FEW_ROWS:
            continue
        if near:
            architecture = hardware.gpu(near[0].gpu).architecture
            constants, _ = gemm.shared(sample(near), gemm.priors(architecture), dtype, gemm.of_architecture)
            found += scores(own, constants, gemm.of_architecture)
        else:
            constants, _ = pooled(others, dtype)
            found += scores(own, constants, gemm.of_unknown)
    return found


def scores(rows: Sequence[Product], constants: GemmConstants, known: gemm.Known) -> list[Score]:
    """Return the errors of rows by GPU, format and regime."""
    groups: dict[tuple[str, str, str], list[Product]] = defaultdict(list)
    for row in rows:
        groups[row.gpu, row.dtype, row.regime].append(row)
    return [_score(*key, group, constants, known) for key, group in sorted(groups.items())]


def _score(
    name: str, dtype: str, regime: str, rows: Sequence[Product], constants: GemmConstants, known: gemm.Known
) -> Score:
    errors, large = [], []
    for batch in gemm.batches(rows):
        shape = batch.shape
        errors.append(np.abs(np.log(gemm.of_gpu(batch, known(batch.gpu, constants)) / batch.seconds)))
        large.append((shape.m >= LARGE) & (shape.n >= LARGE) & (shape.k >= LARGE))
    every, wide = np.concatenate(errors), np.concatenate(large)
    both = [_both(every), _both(every[wide])]
    return Score(name, dtype, regime, len(every), *both[0], *both[1])


def _both(errors: np.ndarray) -> tuple[Number, Number]:
    return (float(np.median(errors)), float(np.percentile(errors, 90))) if len(errors) else (np.nan, np.nan)


def _format(row: Product) -> str:
    return gemm.HALF.get(row.dtype, row.dtype)


def _gpus(rows: Sequence[Product]) -> list[str]:
    return sorted({row.gpu for row in rows})
