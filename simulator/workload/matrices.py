"""Weight matrices as one rank has them, and how they are dealt whole to the ranks that share out their state.

An optimizer that works on whole matrices (Muon) cannot cut the weights into equal slices. Frameworks give each matrix
to one rank, the largest matrices first, each to the rank with the fewest parameters so far (longest processing time
first, Graham 1969; `LayerWiseDistributedOptimizer` of Megatron-Core).
"""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from heapq import heapify, heapreplace
from typing import NamedTuple

from simulator.units import Bytes


class Matrix(NamedTuple):
    """The shape of a weight matrix, of which a tensor rank holds a piece of `whole` x `split` / `ways`."""

    whole: int
    """The side that every tensor rank has whole."""
    split: int
    """The side that they share between them, on all of them together."""
    ways: int
    """Ranks that share it."""
    experts: bool
    """Whether it belongs to an expert, so that expert-tensor ranks share it."""

    @property
    def held(self) -> float:
        """Values that one tensor rank holds."""
        return self.whole * self.split / self.ways


Matrices = tuple[tuple[Matrix, int], ...]
"""Matrices of one rank, and how many there are of each."""


class Owners(NamedTuple):
    """Who shares out the matrices of a rank with it, and how."""

    dense: int = 1
    """Ranks that share out the state of a matrix outside of experts."""
    experts: int = 1
    """The same of a matrix of an expert."""
    sharded: bool = False
    """Whether the weights are shared out as well, in pieces of each matrix."""
    data: str = "owned"
    """How these ranks come to whole matrices (`muon_data` of the stack)."""
    tensor: str = "blocks"
    """How tensor ranks treat the matrices that they split (`muon_tensor` of the stack)."""
    momentum: Bytes = 4.0
    """Bytes of a value as it is kept."""
    dtype: str = "bf16"
    """Number format of products in sixteen bits."""


@lru_cache(maxsize=1024)
def deal(matrices: Matrices, ranks: int) -> tuple[Matrices, ...]:
    """Return the matrices of each rank that gets any, dealt whole and by size.

    >>> big, small = Matrix(8, 8, 1, False), Matrix(8, 4, 1, False)
    >>> [sum(count for _, count in share) for share in deal(((big, 2), (small, 4)), 3)]
    [1, 1, 4]
    """
    single = [matrix for matrix, count in matrices for _ in range(count)]
    single.sort(key=lambda matrix: -matrix.held)
    shares: list[Counter[Matrix]] = [Counter() for _ in range(min(ranks, len(single)))]
    loads = [(0.0, place) for place in range(len(shares))]
    heapify(loads)
    for matrix in single:
        load, place = loads[0]
        shares[place][matrix] += 1
        heapreplace(loads, (load + matrix.held, place))
    return tuple(tuple(share.items()) for share in shares)
