"""What is trained: the shape of a decoder-only transformer, every field as a scenario's `model` section spells it.

Counts of parameters are in `simulator.workload.parameters`, FLOPs in `simulator.workload.flops`; what was
published about a model (tokens, licence, year) stays in its catalog entry.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Literal

from simulator.units import Count, Share

Activation = Literal["gelu", "silu", "relu", "squared-relu"]


@dataclass(frozen=True, kw_only=True)
class Full:
    """Every token attends to all tokens before it."""

    kind: ClassVar[str] = "full"


@dataclass(frozen=True, kw_only=True)
class Window:
    """A token attends to the last `window` tokens, itself included (Mistral 7B, arXiv 2310.06825)."""

    kind: ClassVar[str] = "window"

    window: Count
    """Tokens that a query sees at most, itself included."""
    full_every: Count = 0
    """One layer in this many attends to everything all the same (2 in gpt-oss); 0 where none does."""


@dataclass(frozen=True, kw_only=True)
class Latent:
    """Multi-head latent attention: queries, keys and values from low-rank latents (DeepSeek-V2, arXiv 2405.04434)."""

    kind: ClassVar[str] = "mla"

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


Attention = Full | Window | Latent


@dataclass(frozen=True, kw_only=True)
class Experts:
    """Mixture-of-experts layers: each token goes to `active` of `count` experts and to all shared ones."""

    count: Count
    """Experts of a layer, shared ones not among them."""
    active: Count
    """Experts that each token goes to."""
    ffn: Count
    """Inner width of one expert."""
    shared: Count = 0
    """Experts of the same width that every token passes."""
    dense_layers: Count = 0
    """Leading layers with an ordinary MLP of the model's `ffn`."""
    every: Count = 1
    """After those, the last layer of each `every` has experts (2: every other layer)."""
    router_bias: bool = False
    """The router holds one learned or balanced bias an expert (DeepSeek-V3)."""


@dataclass(frozen=True, kw_only=True)
class Model:
    """A decoder-only transformer; numbers left out follow from the others when the object is made."""

    layers: Count
    """Transformer layers, those of MTP modules not among them."""
    hidden: Count
    """Width of the residual stream."""
    heads: Count
    """Query heads of a layer."""
    kv_heads: Count = 0
    """Key and value heads; as many as `heads` where left out."""
    head_size: Count = 0
    """Width of a head; hidden / heads where left out. Latent attention has its own sizes."""
    ffn: Count = 0
    """Inner width of the MLP; 4 x hidden where left out."""
    vocabulary: Count
    """Entries of the token embedding, before padding."""
    gated: bool = True
    """The MLP has a gate matrix beside the up matrix (SwiGLU, GeGLU): three matrices, not two."""
    tied: bool = False
    """Head and token embedding are one matrix."""
    norm: Literal["rmsnorm", "layernorm"] = "rmsnorm"
    """RMS norm, or layer norm with mean and bias."""
    norm_bias: bool = True
    """Layer norms have a bias (RMS norms never do)."""
    norms: Literal[1, 2, 4] = 2
    """Norms a layer: 1 where a parallel block shares it (PaLM), 4 where outputs are normed too (Gemma 2, Grok-1)."""
    final_norm: bool = True
    """A norm stands before the head."""
    parallel: bool = False
    """Attention and MLP read the same input and run side by side (PaLM, Falcon)."""
    activation: Activation = "silu"
    """Function of the MLP; `silu` or `gelu` with `gated` is SwiGLU or GeGLU."""
    bias: Literal["none", "qkv", "all"] = "none"
    """Which linear layers have a bias: none, the query, key and value projections, or all but the head."""
    qk_norm: Literal["none", "head", "full"] = "none"
    """Norm of queries and keys: one scale of a head's size (Qwen3), or one over all heads (OLMo 2)."""
    sinks: bool = False
    """Each attention head has one learned sink logit (gpt-oss)."""
    embedding_norm: bool = False
    """A norm follows the token embedding (BLOOM)."""
    positions: Literal["rope", "learned", "alibi", "relative"] = "rope"
    """`relative` is Transformer-XL's: one more projection of hidden to all heads a layer (Gopher, Chinchilla)."""
    max_positions: Count = 2048
    """Rows of the table of learned positions; without meaning for the other kinds."""
    dropout: Share = 0.0
    """Share of values dropped in training, after the attention scores and in both residuals."""
    attention: Attention = field(default_factory=Full)
    """`full`, `{window: n}`, or `{kind: mla, ...}`."""
    experts: Experts | None = None
    """Mixture-of-experts layers; none where left out."""
    mtp: Count = 0
    """Multi-token-prediction modules that are trained beside the model (DeepSeek-V3, arXiv 2412.19437, 2.2)."""

    def __post_init__(self) -> None:
        for name, value in (
            ("kv_heads", self.kv_heads or self.heads),
            ("head_size", self.head_size or self.hidden // max(self.heads, 1)),
            ("ffn", self.ffn or 4 * self.hidden),
        ):
            object.__setattr__(self, name, value)

    @property
    def query_size(self) -> int:
        """Width of one query or key head."""
        if isinstance(self.attention, Latent):
            return self.attention.nope_size + self.attention.rope_size
        return self.head_size

    @property
    def value_size(self) -> int:
        """Width of one value head."""
        return self.attention.value_size if isinstance(self.attention, Latent) else self.head_size

    @property
    def latent(self) -> bool:
        return isinstance(self.attention, Latent)

    def has_experts(self, layer: int) -> bool:
        """Return whether `layer` (counted from 0; an MTP module is a layer past the last) has experts."""
        if self.experts is None or layer < self.experts.dense_layers:
            return False
        return (layer - self.experts.dense_layers) % self.experts.every == self.experts.every - 1

    def window(self, layer: int) -> int | None:
        """Return how many tokens a query of `layer` sees at most; None where it sees all before it."""
        if not isinstance(self.attention, Window):
            return None
        every = self.attention.full_every
        return None if every and layer % every == every - 1 else self.attention.window
