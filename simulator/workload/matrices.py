"""The weight matrices of one rank, and how they are dealt whole to the ranks that share out their state.

An optimizer that works on whole matrices (Muon) cannot cut the weights into equal slices. Frameworks give each matrix
to one rank, the largest matrices first, each to the rank with the fewest parameters so far (longest processing time
first, Graham 1969; `LayerWiseDistributedOptimizer` of Megatron-Core).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from heapq import heapify, heapreplace
from typing import NamedTuple

from simulator.workload.blocks.base import Part
from simulator.workload.parameters import layer_parts, mtp_parts
from simulator.workload.rank import Division, Rank
from simulator.workload.replica import Content

EXPERTS: tuple[Division, ...] = ("expert", "expert_replicated")


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


@lru_cache(maxsize=1024)
def matrices_on_rank(rank: Rank, held: tuple[Content, ...]) -> Matrices:
    """Return the matrices of a stage on one rank; tables of the embedding and the head are not among them."""
    found: Counter[Matrix] = Counter()
    for chunk in held:
        for blocks, count in chunk.layers:
            _add(found, layer_parts(rank.model, blocks), rank, count)
    if any(chunk.head for chunk in held):
        _add(found, mtp_parts(rank.model), rank, rank.model.mtp)
    return tuple((matrix, count) for matrix, count in found.items() if count)


def _add(found: Counter[Matrix], parts: Iterable[Part], rank: Rank, times: int) -> None:
    for part in parts:
        if part.matrix is None:
            continue
        whole, split = part.matrix
        experts = part.division in EXPERTS
        count = part.size // (whole * split) // (rank.expert if experts else 1)
        found[Matrix(whole, split, _ways(part.division, rank), experts)] += times * count


def _ways(division: Division, rank: Rank) -> int:
    """Return how many ranks share the split side of a matrix."""
    ways: dict[Division, int] = {
        "tensor": rank.tensor,
        "key_value": min(rank.tensor, rank.model.kv_heads),
        "expert": rank.expert_tensor,
    }
    return ways.get(division, 1)


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
