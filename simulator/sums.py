"""Sums that are the same in every Python: from the first to the last, each addition rounded.

The `sum` of Python 3.12 and later carries the rounding errors of floats along, that of 3.11 does not, so that the last
bits of a result would tell which one computed it.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from operator import add
from typing import overload


@overload
def added(numbers: Iterable[int]) -> int: ...
@overload
def added(numbers: Iterable[float]) -> float: ...
def added(numbers: Iterable[float]) -> float:
    """Return the sum of `numbers`, in their order.

    >>> added([0.1] * 10)
    0.9999999999999999
    """
    return reduce(add, numbers, 0)
