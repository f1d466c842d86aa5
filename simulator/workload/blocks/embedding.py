"""The embedding: a table of tokens, split over the tensor axis, and what comes before the first layer."""

from __future__ import annotations

from dataclasses import dataclass

from simulator.workload.blocks.base import Block, Part, Terms, norm_size
from simulator.workload.model import Model
from simulator.workload.operations import Traffic
from simulator.workload.rank import Rank
from simulator.workload.writer import Writer


@dataclass(frozen=True)
class Embedding(Block):
    name = "embedding"
    calls = 6
    """PyTorch calls of a forward: two lookups, their sum, a mask of other ranks' rows and its fill, a transposition."""

    def parts(self, model: Model) -> tuple[Part, ...]:
        return (
            Part("token_embedding", model.vocabulary * model.hidden, "vocabulary"),
            Part(
                "position_embedding", (model.positions == "learned") * model.max_positions * model.hidden, "replicated"
            ),
            Part("embedding_norm", model.embedding_norm * norm_size(model), "replicated"),
        )

    def forward(self, out: Writer) -> None:
        rank, nbytes = out.rank, out.rank.gathered_bytes
        out.compute("embedding", Traffic(2 * nbytes))
        if out.tensor > 1:
            out.exchange("embedding reduce", out.scatter())
        if out.model.dropout:
            out.compute("embedding dropout", Traffic(2.5 * nbytes * rank.scattered / rank.tokens))

    def backward(self, out: Writer) -> None:
        if out.rank.sequence:
            out.exchange("embedding gather", out.gather())
        out.compute("embedding backward", Traffic(4 * out.rank.gathered_bytes))

    def kept(self, rank: Rank) -> Terms:
        masked = rank.model.dropout and rank.stack.saves_dropout_mask
        return {"dropout mask": rank.scattered * rank.model.hidden} if masked else {}
