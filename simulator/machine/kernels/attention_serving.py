"""What serving engines do around an attention kernel, and measure with it.

A training step has these as operations of their own; here they are for tables of kernels measured in serving engines.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.units import Bytes, Seconds

if TYPE_CHECKING:
    from simulator.machine.hardware import Gpu
    from simulator.machine.kernels.attention_constants import ServingConstants

LATENT = 576
"""Latent and rotary part of a token in the cache of latent attention (arXiv 2412.19437, section 4.2)."""


def time(gpu: Gpu, constants: ServingConstants, nbytes: Bytes) -> Seconds:
    """Return the time of the kernels around attention that move `nbytes`; none move nothing."""
    return constants.start + nbytes / (constants.bandwidth * gpu.memory_bandwidth) if nbytes else 0.0


def nbytes(includes: str, *, tokens: int, heads: int, kv_heads: int, head_size: int, value_size: int) -> Bytes:
    """Return the bytes that everything but the kernel moves, from what a table says that a time `includes`."""
    if "latent" in includes:  # Queries are read and written, the latent is copied.
        return tokens * (4.0 * heads * head_size + 4.0 * LATENT)
    width = kv_heads * (head_size + value_size)
    if "cast" in includes:  # Queries, keys and values are read in bf16 and written in fp8.
        return tokens * 3.0 * (heads * head_size + width)
    return tokens * 4.0 * width if "write" in includes else 0.0
