"""Softmax attention: queries of every head, keys and values of each group of heads, over all tokens or a window.

Grouped queries (Ainslie et al. 2023, arXiv 2305.13245) share keys and values. The tensor axis splits heads; key and
value heads are copied where there are fewer of them than ranks. The context axis splits the sequence
(`simulator.workload.blocks.context`). What is kept follows Korthikanti et al., 2022 (arXiv 2205.05198).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from simulator.units import Bytes, Count, Flops
from simulator.workload.blocks import context
from simulator.workload.blocks.base import Block, Convention, Misfit, Part, Terms, norm_size
from simulator.workload.blocks.mixer import Mixer
from simulator.workload.layout import Parallelism
from simulator.workload.methods.base import Linear, Matrix
from simulator.workload.model import Model
from simulator.workload.operations import Core, Traffic
from simulator.workload.rank import UNFUSED, Rank
from simulator.workload.writer import Writer

WIDEST_HEAD = 256
"""Widest head of a fused kernel: FlashAttention 2 and 3 end there ("all head dimensions up to 256", README of
Dao-AILab/flash-attention), and so does cuDNN (`get_attention_backend` of Transformer Engine, which then takes
`UnfusedDotProductAttention`, and none under context parallelism)."""
SCORES = ("attention scores", "attention mask", "attention dropout", "attention statistics")


class Attention(Block, Mixer):
    """What all kinds of softmax attention share; by itself, queries, keys and values projected from the stream."""

    name = "attention"
    modules: ClassVar[Mapping[str, tuple[str, ...]]] = {"core_attention": SCORES}
    grouped: ClassVar[bool] = True
    """Several query heads may share a head of keys and values (the model's `kv_heads`)."""

    @property
    def reach(self) -> int | None:
        """Tokens that a query sees at most; None where it sees all before it."""
        return None

    def query_width(self, model: Model) -> int:
        """Return the width of one query or key head."""
        return model.head_size

    def value_width(self, model: Model) -> int:
        """Return the width of one value head."""
        return model.head_size

    def rotated_width(self, model: Model) -> int:
        """Return the width of what positions turn of one head."""
        return self.query_width(model)

    def check(self, model: Model, parallelism: Parallelism) -> Misfit | None:
        tensor, context = parallelism.tensor, parallelism.context
        heads, groups = model.heads // tensor, model.kv_heads if self.grouped else model.heads
        keys = max(groups // tensor, 1)
        if model.heads % tensor:
            return ("parallelism", "tensor"), f"{model.heads} attention heads are not divisible by tensor {tensor}"
        if groups % tensor and tensor % groups:
            why = f"{groups} key and value heads can neither be divided over tensor {tensor} nor copied to it evenly"
            return ("parallelism", "tensor"), why
        if model.heads % groups:
            why = f"{model.heads} attention heads cannot share {groups} key and value heads evenly"
            return ("model", "kv_heads"), why
        ranks = context.over_heads
        if heads % ranks:
            why = (
                f"ulysses deals {model.heads} heads / tensor {tensor} = {heads} to context {ranks}, which does "
                "not divide them"
            )
            return ("parallelism", "context"), why
        if keys % ranks and ranks % keys:
            why = (
                f"ulysses deals {keys} key and value heads to context {ranks}, which can neither divide them "
                "nor copy them evenly"
            )
            return ("parallelism", "context"), why
        if context.size > 1 and self.too_wide(model):
            why = (
                f"heads of {self.widest(model)} need unfused attention, because fused kernels end at {WIDEST_HEAD}, "
                "and unfused attention does not take a sequence that is split; use context 1"
            )
            return ("parallelism", "context"), why
        return None

    def parts(self, model: Model) -> tuple[Part, ...]:
        hidden, queries, keys = model.hidden, model.heads * model.head_size, model.kv_heads * model.head_size
        biased, all_biased = model.bias != "none", model.bias == "all"
        return (
            Part("query", hidden * queries, "tensor", matrix=(hidden, queries)),
            Part("key", hidden * keys, "key_value", matrix=(hidden, keys)),
            Part("value", hidden * keys, "key_value", matrix=(hidden, keys)),
            Part("output", queries * hidden, "tensor", matrix=(hidden, queries)),
            Part("query_bias", biased * queries, "tensor"),
            Part("key_bias", biased * keys, "key_value"),
            Part("value_bias", biased * keys, "key_value"),
            Part("output_bias", all_biased * hidden, "replicated"),
            Part("qk_norm", (model.qk_norm == "head") * 2 * norm_size(model, model.head_size), "replicated"),
            Part("query_norm", (model.qk_norm == "full") * norm_size(model, queries), "tensor"),
            Part("key_norm", (model.qk_norm == "full") * norm_size(model, keys), "key_value"),
            Part("relative", (model.positions == "relative") * hidden * queries, "tensor", matrix=(hidden, queries)),
            Part("sinks", model.sinks * model.heads, "tensor"),
        )

    def linears(self, model: Model) -> tuple[Linear, ...]:
        hidden, queries, keys = model.hidden, model.heads * model.head_size, model.kv_heads * model.head_size
        projected = (
            Matrix("query", hidden, queries),
            Matrix("key", hidden, keys, "key_value"),
            Matrix("value", hidden, keys, "key_value"),
        )
        return Linear("qkv", projected), Linear("attention out", (Matrix("output", queries, hidden),), row=True)

    def flops(self, model: Model, sequence: int, convention: Convention) -> Flops:
        """Return the FLOPs of scores and of their product with values: 12 x keys x heads x head size."""
        width = model.heads * (self.query_width(model) + self.value_width(model)) / 2
        return 12.0 * keys_per_query(sequence, self.reach, convention) * width

    # Operations.

    def forward(self, out: Writer) -> None:
        self.project(out)
        self._norm_queries(out, "qk norm")
        self._rotate(out, "rope")
        context.attend(out, self.core(out.rank))
        out.row("attention out", self._out_depth(out.rank), reduced=not out.model.parallel)

    def backward(self, out: Writer) -> None:
        out.row_backward("attention out", self._out_depth(out.rank))
        context.attend(out, self.core(out.rank, backward=True))
        self._rotate(out, "rope backward")
        self._norm_queries(out, "qk norm backward", backward=True)
        self.project_backward(out)

    def recompute(self, out: Writer, module: str) -> None:
        if module == "core_attention":
            context.attend(out, self.core(out.rank))

    def project(self, out: Writer) -> None:
        """Write queries, keys and values of the residual stream."""
        out.column("qkv", self._projected(out.rank))

    def project_backward(self, out: Writer) -> None:
        out.column_backward("qkv", self._projected(out.rank))

    def core(self, rank: Rank, *, backward: bool = False) -> Core:
        """Return the attention proper on this rank."""
        model, over_heads = rank.model, rank.context.over_heads
        kernel = self.kernel(rank)
        return Core(
            batch=rank.microbatch,
            heads=max(1, rank.heads // over_heads),
            kv_heads=max(1, rank.kv_heads // over_heads),
            queries=rank.sequence_length // rank.context.over_tokens,
            keys=context.keys(rank, kernel),
            head_size=self.query_width(model),
            value_size=self.value_width(model),
            window=self.reach,
            kernel=kernel,
            dtype=rank.wide,
            backward=backward,
            dropout=model.dropout > 0,
        )

    def widest(self, model: Model) -> int:
        """Return the width of the widest vector of a head: query, key or value."""
        return max(self.query_width(model), self.value_width(model))

    def too_wide(self, model: Model) -> bool:
        """Return whether no fused kernel takes the heads."""
        return self.widest(model) > WIDEST_HEAD

    def kernel(self, rank: Rank) -> str:
        """Return the kernel that runs: the software's, or unfused attention where its kernels do not take the heads."""
        return rank.unfused_kernel if self.too_wide(rank.model) and rank.kernel not in UNFUSED else rank.kernel

    def unfused(self, rank: Rank) -> bool:
        return self.kernel(rank) in UNFUSED

    def keeps_scores(self, rank: Rank) -> bool:
        return rank.keeps_scores or self.too_wide(rank.model)

    def _projected(self, rank: Rank) -> float:
        return (rank.heads + 2 * rank.kv_heads) * rank.model.head_size

    def _out_depth(self, rank: Rank) -> float:
        return rank.heads * self.value_width(rank.model)

    def _norm_queries(self, out: Writer, name: str, *, backward: bool = False) -> None:
        rank = out.rank
        if out.model.qk_norm != "none":
            values = rank.tokens * (rank.heads + rank.kv_heads) * self.query_width(out.model)
            out.norm(name, values, backward=backward)

    def _rotate(self, out: Writer, name: str) -> None:
        if out.model.positions != "rope":
            return
        rank, eager = out.rank, out.stack.rope == "eager"
        values = rank.tokens * (rank.heads + rank.kv_heads) * self.rotated_width(out.model)
        out.compute(name, Traffic(values * rank.value * 2 * (4 if eager else 1), 8 if eager else 1))

    # Memory.

    def kept(self, rank: Rank) -> Terms:
        return self.kept_inputs(rank) | self._kept_core(rank)

    def kept_inputs(self, rank: Rank) -> Terms:
        """Return what is kept on the way to queries, keys and values."""
        model, stack = rank.model, rank.stack
        queries, keys = rank.heads * model.head_size, rank.kv_heads * model.head_size
        kept_keys = queries if stack.repeats_keys else context.dealt_keys(rank) * model.head_size
        terms = {
            "queries": rank.value * queries * rank.tokens,
            "keys and values": 2 * rank.value * kept_keys * rank.tokens,
        }
        if stack.keeps_unrotated and model.positions == "rope":
            terms["unrotated queries and keys"] = rank.value * (queries + keys) * rank.tokens
        if model.qk_norm != "none":
            copies = 4.0 if stack.norm == "eager" and rank.value < 4 else 0.0
            terms["query and key norms"] = (rank.value + copies) * (queries + keys) * rank.tokens
        return terms

    def _kept_core(self, rank: Rank) -> Terms:
        """Scores are heads x queries x keys, every query with all keys of its sequence, whatever the mask hides."""
        model = rank.model
        output = rank.heads * self.value_width(model) * rank.tokens
        if not self.keeps_scores(rank):
            second = rank.operand if rank.operand != rank.value else 0.0
            return {
                "attention statistics": 4 * rank.heads * rank.tokens,
                "attention output": (rank.value + second) * output,
            }
        scores = rank.heads * rank.tokens * rank.sequence_length
        wide = 4.0 if rank.softmax == "eager" and rank.value < 4 else 0.0
        # The probabilities without the column of the sink, which the product keeps.
        cut = rank.value if model.sinks else 0.0
        return {
            "attention scores": (rank.value + wide + cut) * scores,
            "attention mask": scores if model.dropout else 0.0,
            "attention dropout": rank.value * scores if model.dropout else 0.0,
            "attention output": rank.operand * output,
        }

    def listed(self, rank: Rank, terms: Terms) -> Terms:
        """Of query, key, value and output, every other product: queries and values; and what attention gives."""
        values = rank.value * rank.kv_heads * self.value_width(rank.model) * rank.tokens
        return {"queries": terms["queries"], "values": values, "attention output": terms["attention output"]}

    def gradients(self, rank: Rank) -> Bytes:
        """Behind unfused attention, the gradient of the scores, which the softmax turns in place."""
        return self._scores(rank) if self.keeps_scores(rank) else 0.0

    def buffers(self, rank: Rank) -> Bytes:
        """Megatron hands the product of queries and keys a buffer that it keeps; context ranks have others' keys."""
        scores = self._scores(rank) if self.keeps_scores(rank) and rank.stack.keeps_scores_buffer else 0.0
        return scores + context.buffer(rank, self.core(rank))

    def _scores(self, rank: Rank) -> Bytes:
        return rank.value * rank.heads * rank.tokens * rank.sequence_length


@dataclass(frozen=True, kw_only=True)
class Full(Attention):
    """Every token attends to all tokens before it."""

    kind: ClassVar[str] = "full"


@dataclass(frozen=True, kw_only=True)
class Window(Attention):
    """A token attends to the last `window` tokens, itself included (Mistral 7B, arXiv 2310.06825)."""

    kind: ClassVar[str] = "window"

    window: Count
    """Tokens that a query sees at most, itself included."""
    full_every: Count = 0
    """One layer in this many attends to everything all the same (2 in gpt-oss); 0 where none does."""

    @property
    def reach(self) -> int:
        return self.window

    def at(self, layer: int) -> Mixer:
        return Full() if self.full_every and layer % self.full_every == self.full_every - 1 else self


def keys_per_query(sequence: int, window: int | None, convention: Convention) -> float:
    """Return the keys that a query is counted with, averaged over the sequence.

    >>> keys_per_query(4096, None, "causal"), keys_per_query(4096, 1024, "causal"), keys_per_query(4096, None, "full")
    (2048.0, 896.0, 4096.0)
    """
    if convention == "6n":
        return 0.0
    reach = min(sequence, window or sequence)
    return float(reach) if convention == "full" else reach * (1 - reach / (2 * sequence))
