"""Muon: the momentum of a matrix is orthogonalized by Newton-Schulz iterations (Liu et al., 2025, arXiv 2502.16982).

One iteration on X of m x n, with m <= n, is three products in bf16 (Jordan et al., 2024; `torch.optim.Muon`):

    A = X X^T        2 m m n FLOPs
    B = b A + c A A  2 m m m
    X = a X + B X    2 m m n

Five of them cost 5 (4 m^2 n + 2 m^3) FLOPs per matrix and step, whatever the batch. Matrices inside the layers are
orthogonalized, each expert for itself; embeddings, head, norms and biases stay with AdamW.

Ranks that share out the optimizer's state also share out the matrices (`muon_data` of the stack). Tensor ranks, which
hold pieces of a matrix, bring them together or treat them as matrices (`muon_tensor`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from simulator.units import Bytes, Flops
from simulator.workload.matrices import Matrices, Matrix, Owners, deal
from simulator.workload.model import Model
from simulator.workload.operations import Exchange, Gemm, Traffic, Work
from simulator.workload.optimizers.base import Optimizer, Products

STEPS = 5
"""Newton-Schulz iterations of an update (default of `torch.optim.Muon`, Megatron-Core and DeepSpeed)."""
SENT = 2.0
"""Bytes a value between data ranks: what is orthogonalized is cast to bf16 before it is sent (microsoft/dion)."""
PASSES, PASS_KERNELS = 12.0, 3
"""Bytes per value, and kernels, ahead of the products: the momentum is cast (4 + 2), its norm taken (2) and divided by
it (2 + 2)."""
CALLS = 9 + 3 * STEPS
"""PyTorch calls per matrix (`torch.optim.Muon`): two for the momentum, cast, norm and division; three products per
iteration; cast back, scale, weight decay and update."""


class Sharing(NamedTuple):
    """How ranks that share out the state of a matrix come to its update."""

    dealt: bool
    """Each matrix is orthogonalized by one of them; otherwise by all."""
    operation: str
    """The exchange that brings a matrix together, and takes its update back where weights are sharded too."""


SHARINGS = {
    "owned": Sharing(True, ""),
    "exchanged": Sharing(True, "all_to_all"),
    "gathered": Sharing(True, "all_gather"),
    "repeated": Sharing(False, "all_gather"),
}


@dataclass(frozen=True, kw_only=True)
class Muon(Optimizer):
    """One average for matrices inside the layers, Adam's two for embeddings and head."""

    kind: ClassVar[str] = "muon"
    of_matrices: ClassVar[bool] = True
    warning: ClassVar[str] = (
        "no measured step with muon is behind the range of this one; most of what muon costs depends on which rank "
        "orthogonalizes which matrix (`stack.muon_data`, `stack.muon_tensor`)"
    )

    def moments(self, model: Model, width: Bytes, *, end: bool) -> Bytes:
        return 2 * width if end else width

    def on_matrices(self, matrices: Matrices, owners: Owners) -> Products:
        dense = tuple(entry for entry in matrices if not entry[0].experts)
        experts = tuple(entry for entry in matrices if entry[0].experts)
        work: list[Work] = []
        calls = 0
        for those, axis, ranks in ((dense, "shard", owners.dense), (experts, "expert_data", owners.experts)):
            mine = _mine(those, owners, ranks)
            work += [*_sent(those, mine, owners, axis, ranks), *_all(mine, owners)]
            calls += CALLS * sum(count for _, count in mine)
        return Products(tuple(work), calls + sum(isinstance(one, Exchange) for one in work))


def _mine(matrices: Matrices, owners: Owners, ranks: int) -> Matrices:
    """Return those of the matrices that the rank with the most work orthogonalizes."""
    return most(matrices, owners, ranks) if SHARINGS[owners.data].dealt and ranks > 1 else matrices


def _sent(matrices: Matrices, mine: Matrices, owners: Owners, axis: str, ranks: int) -> Iterator[Work]:
    """Yield the exchanges between the ranks that share out the state of these matrices."""
    sharing = SHARINGS[owners.data]
    # Weights that are sharded too are pieces of each matrix: an owner has to be sent the others' ones.
    operation = sharing.operation or ("all_to_all" if owners.sharded else "")
    if not operation or ranks == 1:
        return
    ways = 2 if sharing.dealt and owners.sharded else 1
    for matrix, count in mine if operation == "all_to_all" else matrices:
        yield from ways * count * [Exchange(axis, operation, matrix.held * SENT)]


def most(matrices: Matrices, owners: Owners, ranks: int) -> Matrices:
    """Return the matrices of the rank that has most to do where they are dealt to so many ranks."""
    return max(deal(matrices, ranks), key=lambda share: flops(share, owners), default=())


def flops(matrices: Matrices, owners: Owners) -> Flops:
    """Return the FLOPs of one rank that orthogonalizes these matrices."""
    works = _all(matrices, owners)
    return sum(2.0 * work.m * work.n * work.k * work.kernels for work in works if isinstance(work, Gemm))


def _all(matrices: Matrices, owners: Owners) -> Iterator[Work]:
    for matrix, count in matrices:
        yield from _orthogonalized(matrix, count, owners)


def _orthogonalized(matrix: Matrix, count: int, owners: Owners) -> Iterator[Work]:
    """Yield what one tensor rank does to orthogonalize so many matrices, one after the other."""
    mode = owners.tensor if matrix.ways > 1 else "blocks"
    axis = "expert_tensor" if matrix.experts else "tensor"
    columns = matrix.split if mode == "repeated" else max(1, matrix.split // matrix.ways)
    if mode == "repeated":
        yield from count * [Exchange(axis, "all_gather", matrix.whole * matrix.split * owners.momentum)]
    if mode == "reduced":
        yield from STEPS * count * [Exchange(axis, "all_reduce", matrix.whole**2 * SENT)]
    # The sum over tensor ranks is of the products over the side that they split.
    short, long = (matrix.whole, columns) if mode == "reduced" else sorted((matrix.whole, columns))
    yield Traffic(count * PASSES * matrix.whole * columns, count * PASS_KERNELS)
    yield Gemm(short, short, long, dtype=owners.dtype, kernels=STEPS * count)
    yield Gemm(short, short, short, dtype=owners.dtype, kernels=STEPS * count)
    yield Gemm(short, long, short, dtype=owners.dtype, kernels=STEPS * count)
