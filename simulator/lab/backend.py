"""What does the arithmetic of an experiment: numpy on the processor, or torch on it or on a GPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from simulator.units import Count, Number

TORCH = "this needs PyTorch; install it with `pip install foretrain[torch]` (or `pip install torch`)"

Work = Callable[[], object]
"""Does one unit of work and is done when it returns."""


class Backend(Protocol):
    name: str
    device: str
    dtypes: tuple[str, ...]

    def product(self, m: Count, n: Count, k: Count, dtype: str) -> Work:
        """Return a matrix product of m x k by k x n."""
        ...

    def add(self, elements: Count, dtype: str) -> Work:
        """Return the sum of two vectors into a third, which moves three of them."""
        ...


WIDTH: dict[str, Number] = {"fp64": 8, "fp32": 4, "bf16": 2, "fp16": 2}
"""Bytes of an element."""
