"""The MLP of a layer: a product up, with a gate beside it or without, an activation, and a product down.

The tensor axis splits its inner width. Gated MLPs are SwiGLU and GeGLU (Shazeer, 2020, arXiv 2002.05202).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from simulator.units import Bytes, Count
from simulator.workload.blocks.base import Block, Part, Terms
from simulator.workload.model import Model
from simulator.workload.rank import Rank
from simulator.workload.writer import Writer


@dataclass(frozen=True)
class Mlp(Block):
    name = "mlp"
    ends_in_product: ClassVar[bool] = True

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

    def forward(self, out: Writer) -> None:
        width = self.ffn / out.tensor
        out.column(f"{self.prefix} up", width * (1 + out.model.gated))
        out.activation(f"{self.prefix} activation", out.rank.tokens * width)
        out.row(f"{self.prefix} down", width)

    def backward(self, out: Writer) -> None:
        width = self.ffn / out.tensor
        out.row_backward(f"{self.prefix} down", width)
        out.activation(f"{self.prefix} activation backward", out.rank.tokens * width, backward=True)
        out.column_backward(f"{self.prefix} up", width * (1 + out.model.gated), reduced=not out.model.parallel)

    def kept(self, rank: Rank) -> Terms:
        return kept_inner(rank, self.prefix, self.ffn / rank.tensor * rank.tokens)

    def listed(self, rank: Rank, terms: Terms) -> Terms:
        """Of gate, up and down, every other product."""
        return {
            f"{self.prefix} gate": rank.value * self.ffn / rank.tensor * rank.tokens,
            f"{self.prefix} output": rank.value * rank.model.hidden * rank.scattered,
        }

    def gradients(self, rank: Rank) -> Bytes:
        return inner_gradients(rank, self.ffn / rank.tensor * rank.tokens)


def kept_inner(rank: Rank, name: str, values: float) -> Terms:
    """Return what an MLP with so many inner values keeps: what the activation takes in, and what the last product."""
    model, stack = rank.model, rank.stack
    inner = 2.0 if model.gated else 1.0
    if model.activation == "relu" and not model.gated:
        inner = 0.0  # the gradient of a ReLU needs its output only, which the last product keeps
    eager = stack.mlp == "eager" and (model.gated or model.activation == "squared-relu")
    return {f"{name} inner": rank.value * (inner + eager) * values, f"{name} activation": rank.operand * values}


def inner_gradients(rank: Rank, values: float) -> Bytes:
    """Return what gradients of the activation's output and of its inputs take at once, the output itself being gone."""
    output = rank.operand * values / rank.operand * rank.value
    return output * (2 if rank.model.gated else 1) + (output - rank.operand * values)
