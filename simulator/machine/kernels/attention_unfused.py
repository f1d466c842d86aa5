"""Attention as two batched products and kernels that pass over the scores.

``unfused`` scales, masks, normalises and drops scores in one kernel. ``eager``, plain PyTorch, adds passes for a
separate mask and for layouts. ``sinks`` adds a learned logit per head, which is joined to the scores as one more column
and cut off after the softmax.
"""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

from simulator.machine.kernels import elementwise, gemm
from simulator.units import Seconds

if TYPE_CHECKING:
    from simulator.machine.hardware import Gpu

KERNELS = ("unfused", "eager", "sinks")
SINK_PASSES = 4
"""Forward passes over the scores that a sink adds: a copy that joins its column and one that cuts it off, each a read
and a write (`SoftmaxOne` of Megatron-Core 0.15, fusions/fused_softmax.py)."""


def times(
    gpu: Gpu,
    groups: int,
    queries: int,
    keys: int,
    head_size: int,
    value_size: int,
    kernel: str,
    backward: bool,
    *,
    causal: bool,
    dtype: str,
) -> tuple[Seconds, Seconds]:
    """Return the time of batched products over the full square, and that of the passes over it."""
    constants = gpu.kernels.unfused
    scores = gemm.time(gpu, queries, keys, _multiple(head_size, 8), groups=groups, dtype=dtype)
    context = gemm.time(gpu, queries, _multiple(value_size, 8), _multiple(keys, 8), groups=groups, dtype=dtype)
    products = 2 * (scores + context) if backward else scores + context
    if head_size % 8 or value_size % 8:
        products *= constants.unaligned
    values = constants.passes * queries * keys
    if kernel != "unfused":
        values += constants.copies * (queries + keys) * (head_size + value_size) / 2
        values += constants.mask_passes * queries * keys if causal else 0.0
    if kernel == "sinks":
        values += SINK_PASSES * queries * keys
    nbytes = 2.0 * groups * values * (constants.backward if backward else 1.0)
    return products, elementwise.time(gpu, nbytes)


def _multiple(size: int, unit: int) -> int:
    return ceil(size / unit) * unit
