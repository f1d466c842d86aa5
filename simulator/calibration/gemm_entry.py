"""Write what tables of matrix products say into the catalog's entry."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import fields
from typing import Any

from simulator import catalog
from simulator.calibration import gemm, kernels
from simulator.calibration.gemm_left_out import pooled
from simulator.machine import hardware
from simulator.machine.kernels.constants import CastConstants, GemmConstants, ProductConstants
from simulator.validation.measured_product import Product

UNITS = (
    (("latency", "fill", "epilogue", "start", "split"), "us", 1e6),
    (("settle",), "ms", 1e3),
    (("load", "l2"), "GB/s", 1e-9),
)
"""Units that constants are written in, with the factor to it; others are numbers."""
SAME = {"fp32": "bf16"}
"""Formats that no table holds: the kernels of another, at a rate of their own."""
HEADER = """Constants of matrix products by architecture and format, of casts, and of GPUs that differ; explained in
simulator/machine/kernels/constants.py. Written by `foretrain calibrate --kernels` from half of the shapes of measured
tables; `priors` is where fits start, `default` is an architecture without any."""


def rewritten(rows: Sequence[Product]) -> str:
    """Return the text of the catalog entry with everything that half of the shapes of `rows` can say fitted again."""
    entry = catalog.entry("calibration", gemm.TABLE)
    groups: dict[tuple[str, str], list[Product]] = defaultdict(list)
    for row in _learned_from(rows):
        groups[hardware.gpu(row.gpu).architecture, gemm.HALF.get(row.dtype, row.dtype)].append(row)
    for (architecture, dtype), group in sorted(groups.items()):
        if len(group) >= gemm.FEWEST_ROWS:
            _write(entry, architecture, dtype, gemm.fitted(group, gemm.priors(architecture), dtype))
    for dtype in {dtype for _, dtype in groups} & entry["default"]["formats"].keys():
        _write_default(
            entry, dtype, *pooled([row for (_, known), rows in groups.items() if known == dtype for row in rows], dtype)
        )
    return kernels.text(entry, HEADER)


def _learned_from(rows: Sequence[Product]) -> list[Product]:
    """Return half of the shapes, and all of a GPU and format with few of them."""
    count = Counter((row.gpu, row.dtype) for row in rows)
    return [row for row in rows if row.half == 0 or count[row.gpu, row.dtype] < gemm.FEW_ROWS]


def _write(entry: dict[str, Any], architecture: str, dtype: str, found: gemm.Fitted) -> None:
    """Put what was fitted into an entry of the catalog."""
    known = entry["architectures"].setdefault(architecture, {})
    known.setdefault("formats", {})[dtype] = _texts(found.product, [field.name for field in fields(found.product)])
    for kernel, constants in found.casts.items():
        known.setdefault("casts", {})[kernel] = _texts(constants, gemm.CAST)
    for name, own in found.gpus.items():
        entry["gpus"].setdefault(name, {}).setdefault("formats", {})[dtype] = _texts(own, gemm.OWN)


def _texts(constants: ProductConstants | CastConstants, names: Iterable[str]) -> dict[str, str]:
    """Return constants as the text of an entry."""
    found = {}
    for name in names:
        value = getattr(constants, name)
        unit, factor = next(((unit, factor) for group, unit, factor in UNITS if name in group), ("", 1.0))
        found[name] = kernels.rounded(value * factor) + unit
    return found


def _write_default(entry: dict[str, Any], dtype: str, found: GemmConstants, kept: Sequence[str]) -> None:
    """Put what all architectures share into an entry of the catalog."""
    default, values = entry["default"], _texts(found.formats[dtype], [field.name for field in fields(ProductConstants)])
    default["formats"][dtype] = values
    for other, like in SAME.items():
        if like == dtype:
            default["formats"][other] = {**values, "rate": default["formats"][other]["rate"]}
    for kernel in kept:
        default["casts"][kernel] = _texts(found.casts[kernel], gemm.CAST)
