"""The kernels of a step as they were measured on this machine."""

from __future__ import annotations

from typing import NamedTuple

from simulator.units import Bytes, BytesPerSecond, Count, Seconds


class Kernels(NamedTuple):
    """What one process measured while all others did the same."""

    products: tuple[tuple[Count, Count, Count, Seconds], ...]
    """m, n, k and time of the products of a layer and of the head, forward and backward."""
    elementwise: tuple[tuple[Bytes, Seconds], ...]
    """Bytes that a memory-bound kernel reads and writes, and its time."""
    bandwidth: BytesPerSecond
    """Of a sum of vectors that no cache holds."""
    all_reduces: tuple[tuple[Bytes, Seconds], ...]
