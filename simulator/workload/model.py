"""What is trained: the shape of a decoder-only transformer, every field as a scenario's `model` section spells it.

Counts of parameters are in `simulator.workload.parameters`, FLOPs in `simulator.workload.flops`; what was
published about a model (tokens, licence, year) stays in its catalog entry.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from simulator.kinds import kinds
from simulator.units import Count, Share
from simulator.workload.blocks.mixer import Mixer
from simulator.workload.routing import Routing

Activation = Literal["gelu", "silu", "relu", "squared-relu"]


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
    groups: Count = 1
    """Equal groups of neighbouring experts, for routers with node-limited routing (DeepSeek-V3: 8)."""
    active_groups: Count | None = None
    """Groups that the experts of one token may be in (DeepSeek-V3: 4); all of them where left out."""

    @property
    def routing(self) -> Routing:
        return Routing(self.count, self.active, self.groups, self.active_groups or self.groups)

    def in_layer(self, layer: int) -> bool:
        """Return whether a layer, counted from 0, has experts."""
        return layer >= self.dense_layers and (layer - self.dense_layers) % self.every == self.every - 1


def _full() -> Mixer:
    """Return full attention, which is found among the mixers as any other."""
    full: Mixer = kinds("simulator.workload.blocks", Mixer)["full"]()
    return full


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
    attention: Mixer = field(default_factory=_full)
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
