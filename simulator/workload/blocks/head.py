"""The head: final norm, product with the vocabulary, and the loss of its logits."""

from __future__ import annotations

from dataclasses import dataclass

from simulator.units import Bytes
from simulator.workload.blocks.base import Block, Part, Terms, norm_size
from simulator.workload.methods.base import Linear, Matrix
from simulator.workload.model import Model
from simulator.workload.operations import Gemm, Traffic
from simulator.workload.rank import Rank
from simulator.workload.writer import Writer

METRIC_BYTES = 6.0
"""Bytes a token and vocabulary entry of a loss worked out again: a logarithm of the softmax (2 + 2), read once (2)."""


@dataclass(frozen=True)
class Head(Block):
    name = "final"
    calls = 16
    """PyTorch calls of a forward: product, cast, maximum, shift, mask and gather of the targets, exponent, sum, three
    reductions, logarithm and mean (Megatron-LM's `vocab_parallel_cross_entropy`), and the final norm."""

    def parts(self, model: Model) -> tuple[Part, ...]:
        """Return norm and head; a tied head is the embedding's matrix, of which a stage without that holds a copy."""
        return (
            Part("final_norm", model.final_norm * norm_size(model), "replicated"),
            Part("head", model.vocabulary * model.hidden, "vocabulary"),
        )

    def linears(self, model: Model) -> tuple[Linear, ...]:
        return (Linear("head", (Matrix("head", model.hidden, model.vocabulary),), saved="norm outputs"),)

    def forward(self, out: Writer) -> None:
        rank, stack = out.rank, out.stack
        out.norm("final norm", rank.scattered * out.model.hidden)
        if rank.sequence:
            out.exchange("head gather", out.gather())
        out.compute("head", self._product(rank))
        out.compute("loss", Traffic(self._loss_bytes(rank) / 2, 6 * stack.loss_pieces(rank.tokens)))
        if stack.train_metrics:
            metrics = stack.train_metrics * METRIC_BYTES * rank.tokens * self._loss_width(rank)
            out.compute("metrics", Traffic(metrics, 2 * stack.train_metrics))

    def backward(self, out: Writer) -> None:
        rank, product = out.rank, self._product(out.rank)
        out.compute("loss backward", Traffic(self._loss_bytes(rank) / 2, 3 * out.stack.loss_pieces(rank.tokens)))
        out.compute("head dgrad", out.input_gradient(product))
        reduced = out.beside("head reduce", out.scatter()) if out.tensor > 1 else None
        out.weight("head", product)
        if reduced is not None and out.asynchronous:
            out.wait(reduced)
        out.norm("final norm backward", rank.scattered * out.model.hidden, backward=True)

    def _product(self, rank: Rank) -> Gemm:
        """Return the head's product, one after the other for each piece of the loss."""
        pieces, columns = rank.stack.loss_pieces(rank.tokens), rank.vocabulary // rank.tensor
        return Gemm(rank.tokens / pieces, columns, rank.model.hidden, 1, rank.wide, kernels=pieces)

    def _loss_bytes(self, rank: Rank) -> Bytes:
        return rank.stack.loss_moved * rank.tokens * self._loss_width(rank)

    def _loss_width(self, rank: Rank) -> float:
        """Vocabulary entries that the loss of one rank goes over."""
        return rank.vocabulary / rank.stack.loss_ranks(rank.tensor)

    # Memory.

    def kept(self, rank: Rank) -> Terms:
        """What final norm and loss keep of a microbatch between its forward and its backward.

        The loss needs its fp32 probabilities (4 bytes), the head its input; a chunked loss has done its backward.
        """
        if rank.stack.loss == "chunked":
            return {"norm inputs": rank.stream}
        width = self._loss_width(rank)
        return {
            "probabilities": min(4.0, rank.stack.loss_bytes) * width * rank.tokens,
            "norm inputs": rank.stream,
            "norm outputs": rank.value * rank.model.hidden * rank.saved,
        }

    def peak(self, rank: Rank) -> Bytes:
        """Return the peak of final norm, logits and loss for one microbatch.

        The stack's `loss_bytes` a token and entry cover logits in 16 bit, their fp32 copy and their gradient; those of
        one piece are there at a time.
        """
        entries = self._loss_width(rank) * rank.stack.loss_piece(rank.tokens)
        norm = rank.stream + rank.value * rank.model.hidden * (rank.saved + rank.tokens)
        each = rank.stack.loss_bytes - (rank.stack.loss_shift if rank.microbatch == 1 else 0.0)
        return max(each, 0.0) * (rank.value / 2) * entries + norm

    def delayed(self, rank: Rank) -> Bytes:
        """Return what the weight gradient of the head waits with: its input and the gradient of the logits."""
        rows = 0.0 if rank.stack.loss == "chunked" else rank.value * rank.vocabulary / rank.tensor * rank.tokens
        return rows + rank.value * rank.model.hidden * rank.saved
