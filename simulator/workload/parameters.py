"""How many parameters a model has, part by part, and how many of them one rank holds.

Every count is exact: the parts of `parameters` sum to what a checkpoint of the model holds. MTP modules
are counted apart, as publishers do ("671B", arXiv 2412.19437), since they are dropped after training.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Literal, NamedTuple

from simulator.sums import added
from simulator.workload.model import Latent, Model

Division = Literal["tensor", "key_value", "replicated", "expert", "expert_replicated"]
"""What splits a part of a layer:

- ``tensor``: all tensor ranks;
- ``key_value``: tensor ranks, up to one head each; further ranks hold copies;
- ``replicated``: nothing; every tensor rank holds it whole (norms, router, latent down-projections, output biases);
- ``expert``: expert and expert-tensor ranks;
- ``expert_replicated``: expert ranks only.
"""


class Part(NamedTuple):
    """A named part of a layer: how many parameters, and what divides them."""

    name: str
    size: int
    division: Division


def parameters(model: Model) -> dict[str, int]:
    """Return the parameters of the whole model by name; the values sum to `total_parameters`.

    >>> shape = Model(layers=2, hidden=8, heads=2, ffn=16, vocabulary=100)
    >>> parameters(shape)["token_embedding"], parameters(shape)["mlp_gate"]
    (800, 256)
    """
    counts = dict(embedding_parameters(model))
    for layer in range(model.layers):
        for part in layer_parts(model, layer):
            counts[part.name] = counts.get(part.name, 0) + part.size
    return counts | head_parameters(model)


@lru_cache(maxsize=1024)
def total_parameters(model: Model) -> int:
    """Return the size of the model as it is published, without MTP modules."""
    return added(parameters(model).values())


@lru_cache(maxsize=1024)
def active_parameters(model: Model) -> int:
    """Return the parameters that a token uses: all but the experts it is not sent to."""
    if model.experts is None:
        return total_parameters(model)
    idle = added(_idle(model, layer) for layer in range(model.layers))
    return total_parameters(model) - idle


def non_embedding_parameters(model: Model) -> int:
    """Return the parameters outside token and position embeddings and an untied head (Kaplan, arXiv 2001.08361)."""
    counts = parameters(model)
    return added(counts.values()) - added(counts.get(n, 0) for n in ("token_embedding", "position_embedding", "head"))


def mtp_parameters(model: Model) -> dict[str, int]:
    """Return what MTP modules add in training by name, embedding and head shared with the model.

    A module holds a transformer layer, two norms and a projection of 2 hidden to hidden that join the
    next token's embedding to the hidden state, and a final norm (arXiv 2412.19437, equations 21-23).
    """
    counts: dict[str, int] = {}
    for part in mtp_parts(model):
        counts[part.name] = counts.get(part.name, 0) + part.size * model.mtp
    return counts if model.mtp else {}


def active_mtp_parameters(model: Model) -> int:
    """Return the MTP parameters that a token uses, the shared head left out."""
    return added(mtp_parameters(model).values()) - model.mtp * _idle(model, model.layers)


def _idle(model: Model, layer: int) -> int:
    if not model.has_experts(layer) or model.experts is None:
        return 0
    every = added(part.size for part in layer_parts(model, layer) if part.division.startswith("expert"))
    return every // model.experts.count * (model.experts.count - model.experts.active)


def padded_vocabulary(vocabulary: int, tensor: int = 1, multiple: int = 128) -> int:
    """Return the rows of the embedding after padding, so that each tensor rank gets a multiple of `multiple`.

    >>> padded_vocabulary(151_936, tensor=8), padded_vocabulary(151_936, tensor=8, multiple=1187)
    (152576, 151936)
    """
    block = tensor * multiple
    return -(-vocabulary // block) * block


def embedding_parameters(model: Model) -> dict[str, int]:
    """Return what comes before the first layer."""
    counts = {"token_embedding": model.vocabulary * model.hidden}
    if model.positions == "learned":
        counts["position_embedding"] = model.max_positions * model.hidden
    if model.embedding_norm:
        counts["embedding_norm"] = norm_size(model)
    return counts


def head_parameters(model: Model) -> dict[str, int]:
    """Return what comes after the last layer; a tied head is counted with the embedding."""
    counts = {"final_norm": norm_size(model)} if model.final_norm else {}
    return counts if model.tied else counts | {"head": model.vocabulary * model.hidden}


def norm_size(model: Model, width: int | None = None) -> int:
    """Return the parameters of one norm of `width`: a scale, and a bias where it is a layer norm with one."""
    return (width or model.hidden) * (2 if model.norm == "layernorm" and model.norm_bias else 1)


def layer_parameters(model: Model, layer: int) -> dict[Division, int]:
    """Return the parameters of one layer by what divides them; the values sum to the layer's count."""
    counts: dict[Division, int] = dict.fromkeys(("tensor", "key_value", "replicated", "expert", "expert_replicated"), 0)
    for part in layer_parts(model, layer):
        counts[part.division] += part.size
    return counts


@lru_cache(maxsize=1024)
def weight_tensors(model: Model, first: int, last: int, *, embedding: bool, head: bool) -> int:
    """Return how many tensors the weights of layers `first` to `last` (excluded) are, with those of the ends.

    Norms of a layer count as one, and each of query, key and value, as fused as they may be.
    """
    layers = sum(len(layer_parts(model, layer)) for layer in range(first, last))
    return layers + embedding + (1 if model.tied else 2) * head


def layer_on_rank(
    model: Model, layer: int, *, tensor: int = 1, expert: int = 1, expert_tensor: int = 1
) -> dict[str, float]:
    """Return the parameters of one layer that one rank holds: ``dense``, and ``experts`` apart.

    The two are sharded over different data groups. Norms, routers and output biases are not divided by `tensor`.
    """
    return _on_rank(layer_parts(model, layer), model, tensor, expert, expert_tensor)


def mtp_on_rank(model: Model, *, tensor: int = 1, expert: int = 1, expert_tensor: int = 1) -> dict[str, float]:
    """Return the parameters of all MTP modules that one rank holds: ``dense``, and ``experts`` apart."""
    one = _on_rank(mtp_parts(model), model, tensor, expert, expert_tensor)
    return {name: model.mtp * count for name, count in one.items()}


def embedding_on_rank(model: Model, *, tensor: int = 1, multiple: int = 128) -> dict[str, float]:
    """Return what one rank of the first stage holds before its layers; positions and norm are not divided."""
    table = padded_vocabulary(model.vocabulary, tensor, multiple) * model.hidden / tensor
    return embedding_parameters(model) | {"token_embedding": table}


def head_on_rank(model: Model, *, tensor: int = 1, multiple: int = 128) -> dict[str, float]:
    """Return what one rank of the last stage holds after its layers.

    The head is there even where it is tied: with more than one stage, the last keeps a copy of the embedding.
    """
    table = padded_vocabulary(model.vocabulary, tensor, multiple) * model.hidden / tensor
    return head_parameters(model) | {"head": table}


def _on_rank(parts: Iterable[Part], model: Model, tensor: int, expert: int, expert_tensor: int) -> dict[str, float]:
    ways = {
        "tensor": tensor,
        "key_value": min(tensor, model.kv_heads),
        "replicated": 1,
        "expert": expert * expert_tensor,
        "expert_replicated": expert,
    }
    counts = {"dense": 0.0, "experts": 0.0}
    for part in parts:
        counts["experts" if part.division.startswith("expert") else "dense"] += part.size / ways[part.division]
    return counts


@lru_cache(maxsize=4096)
def layer_parts(model: Model, layer: int) -> tuple[Part, ...]:
    """Return the named parts of one layer, which has experts or an ordinary MLP."""
    norms = Part("norms", model.norms * norm_size(model), "replicated")
    attention = _latent_attention(model) if isinstance(model.attention, Latent) else _attention(model)
    mlp = _experts(model) if model.has_experts(layer) else _mlp(model, model.ffn)
    return tuple(part for part in (norms, *attention, *mlp) if part.size)


@lru_cache(maxsize=1024)
def mtp_parts(model: Model) -> tuple[Part, ...]:
    """Return the named parts of one MTP module."""
    joining = (
        Part("mtp_projection", 2 * model.hidden * model.hidden, "tensor"),
        Part("mtp_norms", 3 * norm_size(model), "replicated"),
    )
    return joining + layer_parts(model, model.layers)


def _attention(model: Model) -> tuple[Part, ...]:
    hidden, queries, keys = model.hidden, model.heads * model.head_size, model.kv_heads * model.head_size
    biased, all_biased = model.bias != "none", model.bias == "all"
    return (
        Part("query", hidden * queries, "tensor"),
        Part("key", hidden * keys, "key_value"),
        Part("value", hidden * keys, "key_value"),
        Part("output", queries * hidden, "tensor"),
        Part("query_bias", biased * queries, "tensor"),
        Part("key_bias", biased * keys, "key_value"),
        Part("value_bias", biased * keys, "key_value"),
        Part("output_bias", all_biased * hidden, "replicated"),
        Part("qk_norm", (model.qk_norm == "head") * 2 * norm_size(model, model.head_size), "replicated"),
        Part("query_norm", (model.qk_norm == "full") * norm_size(model, queries), "tensor"),
        Part("key_norm", (model.qk_norm == "full") * norm_size(model, keys), "key_value"),
        Part("relative", (model.positions == "relative") * hidden * queries, "tensor"),
        Part("sinks", model.sinks * model.heads, "tensor"),
    )


def _latent_attention(model: Model) -> tuple[Part, ...]:
    """Return MLA's matrices: the down-projections are small and shared by all heads, so every tensor rank has them."""
    latent = model.attention
    assert isinstance(latent, Latent)
    queries = model.heads * model.query_size
    keys_values = model.heads * (latent.nope_size + latent.value_size)
    return (
        Part("query_down", model.hidden * latent.q_rank, "replicated"),
        Part("query_latent_norm", latent.q_rank and norm_size(model, latent.q_rank), "replicated"),
        Part("query_up", (latent.q_rank or model.hidden) * queries, "tensor"),
        Part("key_value_down", model.hidden * (latent.kv_rank + latent.rope_size), "replicated"),
        Part("key_value_latent_norm", norm_size(model, latent.kv_rank), "replicated"),
        Part("key_value_up", latent.kv_rank * keys_values, "tensor"),
        Part("output", model.heads * latent.value_size * model.hidden, "tensor"),
    )


def _mlp(model: Model, ffn: int, prefix: str = "mlp") -> tuple[Part, ...]:
    matrix, biased = model.hidden * ffn, model.bias == "all"
    return (
        Part(f"{prefix}_up", matrix, "tensor"),
        Part(f"{prefix}_gate", model.gated * matrix, "tensor"),
        Part(f"{prefix}_down", matrix, "tensor"),
        Part(f"{prefix}_up_bias", biased * (1 + model.gated) * ffn, "tensor"),
        Part(f"{prefix}_down_bias", biased * model.hidden, "replicated"),
    )


def _experts(model: Model) -> tuple[Part, ...]:
    experts = model.experts
    assert experts is not None
    matrix, biased = model.hidden * experts.ffn, model.bias == "all"
    router_biased = biased or experts.router_bias
    return (
        Part("router", model.hidden * experts.count, "replicated"),
        Part("router_bias", router_biased * experts.count, "replicated"),
        Part("experts", experts.count * (2 + model.gated) * matrix, "expert"),
        Part("expert_up_bias", biased * experts.count * (1 + model.gated) * experts.ffn, "expert"),
        Part("expert_down_bias", biased * experts.count * model.hidden, "expert_replicated"),
        *(_mlp(model, experts.shared * experts.ffn, "shared_expert") if experts.shared else ()),
    )
