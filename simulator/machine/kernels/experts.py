"""How long the experts of one rank take as one module: rows to their experts, two grouped products, rows added up.

Forward, as serving engines run it behind a router (TensorRT-LLM's fused experts): a routing kernel finds who goes
where, one pass copies rows into the order of the experts and casts them, a grouped product makes gate and up, a pass
activates and casts, a grouped product comes down, and a pass adds up the rows of each token, weighted::

    time    = start + up + down + passes + routing
    up      = the product of `simulator.machine.kernels.gemm` with the tiles of all experts together, each expert's
              rows padded to whole tiles; weights of experts that got a row come from memory. The tile is the best
              one for even loads: libraries tune by the number of rows, not by who gets them
    passes  = (rows h (2 + e) + activation rows i ((1 + gated) 2 + e) + rows h 2 + tokens h 2) / (copies · bandwidth)
    routing = token · tokens + pair · tokens · active     the second only where the rank sees tokens of other ranks

``h`` and ``i`` are the widths of a token and of an expert here, ``e`` the bytes of a value that is multiplied. Training
has other passes, which are facts of its stack (`simulator.workload.blocks.experts`); grouped products are the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from simulator.machine.kernels import gemm
from simulator.machine.kernels.experts_constants import WHOLE, ExpertsConstants, of_gpu
from simulator.machine.kernels.tiles import configurations
from simulator.units import Seconds

if TYPE_CHECKING:
    from simulator.machine.hardware import Gpu
    from simulator.machine.kernels.gemm import Regime

VALUE: float = 2.0
"""Bytes of a value that comes in, goes out or is added up: bf16."""


class Layer(NamedTuple):
    """Experts of one rank and the rows they get, or as many of them as the arrays are long."""

    hidden: Any
    inner: Any
    """Width of an expert on this rank."""
    gated: Any
    """1 where a gate is multiplied beside the up product, else 0."""
    rows: Any
    """Rows of all experts here."""
    hit: Any
    """Experts here that got a row."""
    heights: Any
    """Row tiles of all experts, see `heights`."""
    tokens: Any
    """Tokens that are routed and added up."""
    walked: Any
    """Pairs of token and expert that the rank looks through to find its own, nought where it has all experts."""


def heights(architecture: str, loads: Sequence[float]) -> np.ndarray:
    """Return the tiles along the rows that experts with `loads` rows take together, one for each tile of a library."""
    a = configurations(architecture, 1).a
    found: np.ndarray = np.ceil(np.asarray(loads, float)[:, None] / a).sum(axis=0)
    return found


def layer(
    gpu: Gpu,
    loads: Sequence[float],
    *,
    hidden: int,
    inner: int,
    gated: bool = True,
    tokens: float,
    walked: float = 0.0,
) -> Layer:
    """Return the experts that get `loads` rows, one number an expert."""
    rows, hit = float(sum(loads)), sum(load > 0 for load in loads)
    return Layer(hidden, inner, int(gated), rows, hit, heights(gpu.architecture, loads), tokens, walked)


def time(gpu: Gpu, experts: Layer, *, dtype: str = "bf16", module: str = WHOLE, regime: Regime = "training") -> Seconds:
    """Return the time of one layer of experts on one rank; raises ScenarioError for a format without a model."""
    return float(seconds(gpu, experts, of_gpu(gpu, dtype, module), dtype=dtype, regime=regime))


def seconds(gpu: Gpu, experts: Layer, constants: ExpertsConstants, *, dtype: str, regime: Regime) -> Any:
    """Return the time of `experts`, or of each where they are arrays."""
    return (
        constants.start
        + products(gpu, experts, constants, dtype=dtype, regime=regime)
        + nbytes(experts, constants, dtype=dtype) / (gpu.memory_bandwidth * constants.copies)
        + constants.token * experts.tokens
        + constants.pair * experts.walked
    )


def products(gpu: Gpu, experts: Layer, constants: ExpertsConstants, *, dtype: str, regime: Regime) -> Any:
    """Return the time of both grouped products, starts left out."""
    m = experts.rows / np.maximum(experts.hit, 1)
    up = gemm.Shape(m, experts.inner * (1 + experts.gated), experts.hidden, experts.hit, experts.heights)
    down = gemm.Shape(m, experts.hidden, experts.inner, experts.hit, experts.heights)
    known = constants.product(gemm.of_format(gpu, dtype))
    return sum(gemm.seconds_by(gpu, known, shape, dtype=dtype, regime=regime) for shape in (up, down))


def nbytes(experts: Layer, constants: ExpertsConstants, *, dtype: str) -> Any:
    """Return the bytes of the passes around the products."""
    size = gemm.ELEMENT_BYTES[dtype]
    copied = experts.rows * experts.hidden * (VALUE + size)
    activated = experts.rows * experts.inner * ((1 + experts.gated) * VALUE + size)
    added = (experts.rows + experts.tokens) * experts.hidden * VALUE
    return copied + constants.activation * activated + added
