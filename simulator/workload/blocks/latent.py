"""Multi-head latent attention (DeepSeek-V2, arXiv 2405.04434, section 2.1).

Queries, keys and values come from low-rank latents. The down-projections are small and whole on every tensor rank,
which makes them for the tokens it holds; the latents are gathered before they are projected up to the rank's heads.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from simulator.units import Count, Number
from simulator.workload.blocks.attention import Attention
from simulator.workload.blocks.base import Part, Terms, norm_size
from simulator.workload.blocks.mixer import Mixer
from simulator.workload.methods.base import Linear, Matrix
from simulator.workload.model import Model
from simulator.workload.operations import Exchange, Gemm
from simulator.workload.rank import Rank
from simulator.workload.writer import Writer

MULTIPLE = 64
"""Ranks of latents are multiples of this."""


@dataclass(frozen=True, kw_only=True)
class Latent(Attention):
    """Multi-head latent attention: queries, keys and values from low-rank latents (DeepSeek-V2, arXiv 2405.04434)."""

    kind: ClassVar[str] = "mla"
    grouped: ClassVar[bool] = False
    modules: ClassVar[Mapping[str, tuple[str, ...]]] = {**Attention.modules, "mla_up": ("queries", "keys and values")}

    q_rank: Count = 0
    """Rank of the query latent; 0 projects queries directly (DeepSeek-V2-Lite)."""
    kv_rank: Count
    """Rank of the latent that keys and values are made from."""
    rope_size: Count
    """Part of a query or key head that carries the position; the key's is shared by all heads."""
    nope_size: Count
    """Part of a query or key head without position."""
    value_size: Count
    """Width of one value head."""

    def query_width(self, model: Model) -> int:
        return self.nope_size + self.rope_size

    def value_width(self, model: Model) -> int:
        return self.value_size

    def rotated_width(self, model: Model) -> int:
        return self.rope_size

    def widened(self, growth: Number) -> Mixer:
        q_rank, kv_rank = (round(rank * growth / MULTIPLE) * MULTIPLE for rank in (self.q_rank, self.kv_rank))
        return replace(self, q_rank=q_rank, kv_rank=kv_rank)

    def parts(self, model: Model) -> tuple[Part, ...]:
        queries = model.heads * self.query_width(model)
        keys_values, values = model.heads * (self.nope_size + self.value_size), model.heads * self.value_size
        hidden, latent, shared = model.hidden, self.q_rank or model.hidden, self.kv_rank + self.rope_size
        return (
            Part("query_down", hidden * self.q_rank, "replicated", matrix=(hidden, self.q_rank)),
            Part("query_latent_norm", self.q_rank and norm_size(model, self.q_rank), "replicated"),
            Part("query_up", latent * queries, "tensor", matrix=(latent, queries)),
            Part("key_value_down", hidden * shared, "replicated", matrix=(hidden, shared)),
            Part("key_value_latent_norm", norm_size(model, self.kv_rank), "replicated"),
            Part("key_value_up", self.kv_rank * keys_values, "tensor", matrix=(self.kv_rank, keys_values)),
            Part("output", values * hidden, "tensor", matrix=(hidden, values)),
        )

    def linears(self, model: Model) -> tuple[Linear, ...]:
        queries, values = model.heads * self.query_width(model), model.heads * self.value_size
        latent, shared = self.q_rank or model.hidden, self.kv_rank + self.rope_size
        down = (Linear("q down", (Matrix("query_down", model.hidden, self.q_rank, "replicated"),)),)
        return (
            *(down if self.q_rank else ()),
            Linear("q up", (Matrix("query_up", latent, queries),)),
            Linear("kv down", (Matrix("key_value_down", model.hidden, shared, "replicated"),)),
            Linear("kv up", (Matrix("key_value_up", self.kv_rank, model.heads * self.nope_size + values),)),
            Linear("attention out", (Matrix("output", values, model.hidden),), row=True),
        )

    def project(self, out: Writer) -> None:
        for name, product in self._products(out.rank):
            out.cast(name, product.m * product.k)
            if name == "q up" and out.rank.sequence:
                out.exchange("latent gather", self._gather(out.rank))
            out.multiply(name, product)
            if name.endswith("down"):
                out.norm(f"{name} norm", product.m * product.n)

    def project_backward(self, out: Writer) -> None:
        for name, product in reversed(self._products(out.rank)):
            out.cast(f"{name} grad", product.m * product.n)
            out.input_product(name, product)
            out.weight(name, product)
            if name == "q up" and out.rank.sequence:
                out.exchange("latent scatter", self._gather(out.rank)._replace(operation="reduce_scatter"))

    def recompute(self, out: Writer, module: str) -> None:
        super().recompute(out, module)
        if module == "mla_up":
            for name, product in self._products(out.rank):
                if name.endswith("up"):
                    out.multiply(name, product)

    def _products(self, rank: Rank) -> list[tuple[str, Gemm]]:
        """Return the down- and up-projections by name."""
        model, rows, dtype = rank.model, int(rank.scattered), rank.precision.products
        keys_and_values = rank.heads * (self.nope_size + self.value_size)
        query_down = Gemm(rows, self.q_rank, model.hidden, 1, dtype)
        return [
            *([("q down", query_down)] if self.q_rank else []),
            ("q up", Gemm(rank.tokens, rank.heads * self.query_width(model), self.q_rank or model.hidden, 1, dtype)),
            ("kv down", Gemm(rows, self.kv_rank + self.rope_size, model.hidden, 1, dtype)),
            ("kv up", Gemm(rank.tokens, keys_and_values, self.kv_rank, 1, dtype)),
        ]

    def _gather(self, rank: Rank) -> Exchange:
        width = self.q_rank + self.kv_rank + self.rope_size
        return Exchange("tensor", "all_gather", rank.tokens * width * rank.value)

    def kept_inputs(self, rank: Rank) -> Terms:
        """Latents are kept before and after their norm; queries, keys and values of every head once they are made."""
        queries, values = self.query_width(rank.model), self.value_size
        ranks = self.q_rank + self.kv_rank
        return {
            "latents": (rank.value * (ranks + self.rope_size) + rank.operand * ranks) * rank.scattered,
            "queries": rank.value * rank.heads * queries * rank.tokens,
            "keys and values": rank.value * rank.heads * (queries + values) * rank.tokens,
        }
