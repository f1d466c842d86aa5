"""The MLP of a layer: a product up, with a gate beside it or without, an activation, and a product down.

The tensor axis splits its inner width. Gated MLPs are SwiGLU and GeGLU (Shazeer, 2020, arXiv 2002.05202).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import ceil
from typing import ClassVar

from simulator.sums import added
from simulator.units import Bytes, Count
from simulator.workload.blocks.base import Block, Part, Terms
from simulator.workload.methods.base import Linear, Matrix
from simulator.workload.model import Model
from simulator.workload.operations import Gemm, Operation, Program, Traffic, Work
from simulator.workload.rank import Rank
from simulator.workload.writer import Writer


@dataclass(frozen=True)
class Mlp(Block):
    name = "mlp"
    ends_in_product: ClassVar[bool] = True
    modules: ClassVar[Mapping[str, tuple[str, ...]]] = {"mlp": ("mlp inner", "mlp activation")}

    ffn: Count
    """Inner width on all tensor ranks together."""
    prefix: str = "mlp"
    """What its operations are called; experts that every token passes are one too."""

    def parts(self, model: Model) -> tuple[Part, ...]:
        matrix, biased, prefix = model.hidden * self.ffn, model.bias == "all", self.prefix.replace(" ", "_")
        shape = model.hidden, self.ffn
        return (
            Part(f"{prefix}_up", matrix, "tensor", matrix=shape),
            Part(f"{prefix}_gate", model.gated * matrix, "tensor", matrix=shape),
            Part(f"{prefix}_down", matrix, "tensor", matrix=shape),
            Part(f"{prefix}_up_bias", biased * (1 + model.gated) * self.ffn, "tensor"),
            Part(f"{prefix}_down_bias", biased * model.hidden, "replicated"),
        )

    def linears(self, model: Model) -> tuple[Linear, ...]:
        prefix, hidden = self.prefix.replace(" ", "_"), model.hidden
        gate = (Matrix(f"{prefix}_gate", hidden, self.ffn),) if model.gated else ()
        down = (Matrix(f"{prefix}_down", self.ffn, hidden),)
        return (
            Linear(f"{self.prefix} up", (*gate, Matrix(f"{prefix}_up", hidden, self.ffn))),
            Linear(f"{self.prefix} down", down, row=True, saved=f"{self.prefix} activation"),
        )

    def forward(self, out: Writer) -> None:
        if self._tiles(out.rank) == 1:
            self._forward(out)
        else:
            self._extend(out, self._forward)

    def _forward(self, out: Writer) -> None:
        self.up(out)
        self.down(out)

    def up(self, out: Writer) -> None:
        """Write the forward up to the input of the last product."""
        width = self.ffn / out.tensor
        out.column(f"{self.prefix} up", width * (1 + out.model.gated))
        out.activation(f"{self.prefix} activation", out.rank.tokens * width)

    def down(self, out: Writer) -> None:
        """Write the last product."""
        out.row(f"{self.prefix} down", self.ffn / out.tensor)

    def backward(self, out: Writer) -> None:
        if self._tiles(out.rank) == 1:
            self._backward(out)
        else:
            self._extend(out, self._forward, recompute=True)
            self._extend(out, self._backward)

    def _backward(self, out: Writer) -> None:
        self.down_backward(out)
        self.up_backward(out)

    def down_backward(self, out: Writer) -> None:
        """Write the backward of the last product."""
        out.row_backward(f"{self.prefix} down", self.ffn / out.tensor)

    def up_backward(self, out: Writer) -> None:
        """Write the backward of what comes before it."""
        width = self.ffn / out.tensor
        out.activation(f"{self.prefix} activation backward", out.rank.tokens * width, backward=True)
        out.column_backward(f"{self.prefix} up", width * (1 + out.model.gated), reduced=not out.model.parallel)

    def _extend(self, out: Writer, write: Callable[[Writer], None], *, recompute: bool = False) -> None:
        """Write what is done tile by tile: the same work in as many kernels more."""
        pieces = out.beside_itself(recompute=recompute)
        write(pieces)
        out.extend(cut(pieces.program(), self._tiles(out.rank)))

    def _tiles(self, rank: Rank) -> int:
        """Return the tiles of a microbatch; experts that every token passes are not tiled."""
        tile = rank.stack.mlp_tile if self.prefix == "mlp" else None
        return ceil(rank.tokens / tile) if tile else 1

    def _at_once(self, rank: Rank) -> float:
        """Return the inner values of the tokens that are worked out at a time."""
        tokens = rank.tokens if self._tiles(rank) == 1 else min(rank.tokens, rank.stack.mlp_tile or rank.tokens)
        return self.ffn / rank.tensor * tokens

    def recompute(self, out: Writer, module: str) -> None:
        if module == "mlp":
            self.forward(out)

    def kept(self, rank: Rank) -> Terms:
        return kept_inner(rank, self.prefix, self._at_once(rank)) if self._tiles(rank) == 1 else {}

    def unlisted(self, rank: Rank) -> tuple[str, ...]:
        return () if self._tiles(rank) == 1 else (f"{self.prefix} up", f"{self.prefix} down")

    def listed(self, rank: Rank, terms: Terms) -> Terms:
        """Of gate, up and down, every other product; tiles are inside of one operation, which is not on the list."""
        if self._tiles(rank) > 1:
            return {}
        return {
            f"{self.prefix} gate": rank.value * self.ffn / rank.tensor * rank.tokens,
            f"{self.prefix} output": rank.value * rank.model.hidden * rank.scattered,
        }

    def gradients(self, rank: Rank) -> Bytes:
        """Return the gradients of what is worked out at a time, and of a tile what its forward kept for them."""
        again = kept_inner(rank, self.prefix, self._at_once(rank)) if self._tiles(rank) > 1 else {}
        return inner_gradients(rank, self._at_once(rank)) + added(again.values())


def cut(program: Program, tiles: int) -> Program:
    """Return a program whose kernels each work on one of `tiles` pieces of the tokens, one after the other."""
    return tuple(operation._replace(work=_cut(operation, tiles)) for operation in program)


def _cut(operation: Operation, tiles: int) -> Work:
    match operation.work:
        case Gemm() as product if operation.weight_gradient:
            return product._replace(k=product.k / tiles, kernels=product.kernels * tiles, accumulate=True)
        case Gemm() as product:
            return product._replace(m=product.m / tiles, kernels=product.kernels * tiles)
        case Traffic() as passed:
            return passed._replace(kernels=passed.kernels * tiles)
    return operation.work


def kept_inner(rank: Rank, name: str, values: float) -> Terms:
    """Return what an MLP with so many inner values keeps: what the activation takes in, and what the last product."""
    model, stack = rank.model, rank.stack
    inner = 2.0 if model.gated else 1.0
    if model.activation == "relu" and not model.gated:
        inner = 0.0  # the gradient of a ReLU needs its output only, which the last product keeps
    eager = stack.mlp == "eager" and (model.gated or model.activation == "squared-relu")
    return {f"{name} inner": rank.inner * (inner + eager) * values, f"{name} activation": rank.operand * values}


def inner_gradients(rank: Rank, values: float) -> Bytes:
    """Return what gradients of the activation's output and of its inputs take at once, the output itself being gone."""
    output = rank.operand * values / rank.operand * rank.value
    return output * (2 if rank.model.gated else 1) + (output - rank.operand * values)
