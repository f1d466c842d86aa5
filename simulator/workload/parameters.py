"""How many parameters a model has, part by part, and how many of them one rank holds.

Every count is exact: the parts of `parameters` sum to what a checkpoint of the model holds. MTP modules
are counted apart, as publishers do ("671B", arXiv 2412.19437), since they are dropped after training.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from simulator.sums import added
from simulator.workload.blocks.base import Blocks, Part, norm_size, norms
from simulator.workload.blocks.embedding import Embedding
from simulator.workload.blocks.head import Head
from simulator.workload.layers import blocks_of, layers_of
from simulator.workload.learning import embedding, head
from simulator.workload.learning import layers as learning_layers
from simulator.workload.model import Model
from simulator.workload.rank import Rank
from simulator.workload.tuning import Tuning


def parameters(model: Model) -> dict[str, int]:
    """Return the parameters of the whole model by name; the values sum to `total_parameters`.

    >>> shape = Model(layers=2, hidden=8, heads=2, ffn=16, vocabulary=100)
    >>> parameters(shape)["token_embedding"], parameters(shape)["mlp_gate"]
    (800, 256)
    """
    layers = (part for blocks in layers_of(model)[: model.layers] for part in layer_parts(model, blocks))
    return embedding_parameters(model) | _by_name(layers) | head_parameters(model)


def _by_name(parts: Iterable[Part]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for part in parts:
        if part.size:
            counts[part.name] = counts.get(part.name, 0) + part.size
    return counts


@lru_cache(maxsize=1024)
def total_parameters(model: Model) -> int:
    """Return the size of the model as it is published, without MTP modules."""
    return added(parameters(model).values())


@lru_cache(maxsize=1024)
def active_parameters(model: Model) -> int:
    """Return the parameters that a token uses: all but the experts it is not sent to."""
    return total_parameters(model) - added(_idle(model, blocks) for blocks in layers_of(model)[: model.layers])


def non_embedding_parameters(model: Model) -> int:
    """Return the parameters outside token and position embeddings and an untied head (Kaplan, arXiv 2001.08361)."""
    counts = parameters(model)
    return added(counts.values()) - added(counts.get(n, 0) for n in ("token_embedding", "position_embedding", "head"))


def mtp_parameters(model: Model) -> dict[str, int]:
    """Return what MTP modules add in training by name, embedding and head shared with the model."""
    return {name: model.mtp * size for name, size in _by_name(mtp_parts(model)).items()} if model.mtp else {}


def active_mtp_parameters(model: Model) -> int:
    """Return the MTP parameters that a token uses, the shared head left out."""
    return added(mtp_parameters(model).values()) - model.mtp * _idle(model, blocks_of(model, model.layers))


def _idle(model: Model, blocks: Blocks) -> int:
    return added(part.idle for part in layer_parts(model, blocks))


def embedding_parameters(model: Model) -> dict[str, int]:
    """Return what comes before the first layer."""
    return _by_name(Embedding().parts(model))


def head_parameters(model: Model) -> dict[str, int]:
    """Return what comes after the last layer; a tied head is counted with the embedding."""
    return _by_name(part for part in Head().parts(model) if not (model.tied and part.name == "head"))


@lru_cache(maxsize=4096)
def layer_parts(model: Model, blocks: Blocks) -> tuple[Part, ...]:
    """Return the named parts of one layer that learn."""
    around = (_norms(model, blocks),) if blocks[0].trains_base else ()
    return tuple(part for part in (*around, *(part for block in blocks for part in block.parts(model))) if part.size)


@lru_cache(maxsize=4096)
def frozen_layer_parts(model: Model, blocks: Blocks) -> tuple[Part, ...]:
    """Return the named parts of one layer that do not learn."""
    around = () if blocks[0].trains_base else (_norms(model, blocks),)
    return tuple(part for part in (*around, *(part for block in blocks for part in block.frozen(model))) if part.size)


def _norms(model: Model, blocks: Blocks) -> Part:
    return Part("norms", sum(norms(model, blocks)) * norm_size(model), "replicated")


@lru_cache(maxsize=1024)
def trained_parameters(model: Model, tuning: Tuning) -> int:
    """Return how many parameters learn, MTP modules left out; a tied head is counted with the embedding."""
    parts = [part for blocks in learning_layers(model, tuning)[: model.layers] for part in layer_parts(model, blocks)]
    parts += embedding(tuning).parts(model)
    parts += (part for part in head(tuning).parts(model) if not (model.tied and part.name == "head"))
    return added(part.size for part in parts)


@lru_cache(maxsize=1024)
def mtp_parts(model: Model) -> tuple[Part, ...]:
    """Return the named parts of one MTP module.

    A module holds a transformer layer, two norms and a projection of 2 hidden to hidden that join the
    next token's embedding to the hidden state, and a final norm (arXiv 2412.19437, equations 21-23).
    """
    joining = (
        Part("mtp_projection", 2 * model.hidden * model.hidden, "tensor", matrix=(2 * model.hidden, model.hidden)),
        Part("mtp_norms", 3 * norm_size(model), "replicated"),
    )
    return joining + layer_parts(model, blocks_of(model, model.layers))


@lru_cache(maxsize=1024)
def weight_tensors(model: Model, first: int, last: int, *, embedding: bool, head: bool) -> int:
    """Return how many tensors the weights of layers `first` to `last` (excluded) are, with those of the ends.

    Norms of a layer count as one, and each of query, key and value, as fused as they may be.
    """
    layers = sum(len(layer_parts(model, blocks)) for blocks in layers_of(model)[first:last])
    return layers + embedding + (1 if model.tied else 2) * head


class Parameters(NamedTuple):
    """Parameters on one rank; dense ones and experts are shared out over different data groups."""

    dense: float = 0.0
    experts: float = 0.0

    def plus(self, other: Parameters, times: float = 1) -> Parameters:
        """Return these and so many times those of another."""
        return Parameters(self.dense + times * other.dense, self.experts + times * other.experts)


def on_rank(parts: Iterable[Part], rank: Rank) -> Parameters:
    """Return the parameters of these parts that one rank holds."""
    dense = experts = 0.0
    for part in parts:
        if part.division in ("expert", "expert_replicated"):
            experts += rank.share(part.size, part.division)
        else:
            dense += rank.share(part.size, part.division)
    return Parameters(dense, experts)


@lru_cache(maxsize=4096)
def layer_on_rank(rank: Rank, blocks: Blocks) -> Parameters:
    """Return the parameters of one layer that one rank holds and trains."""
    return on_rank(layer_parts(rank.model, blocks), rank)


@lru_cache(maxsize=1024)
def mtp_on_rank(rank: Rank) -> Parameters:
    """Return the parameters of all MTP modules that one rank holds."""
    return Parameters().plus(on_rank(mtp_parts(rank.model), rank), rank.model.mtp)


@lru_cache(maxsize=1024)
def embedding_on_rank(rank: Rank) -> float:
    """Return the parameters that one rank of the first stage trains before its layers."""
    return on_rank(embedding(rank.tuning).parts(rank.model), rank).dense


@lru_cache(maxsize=1024)
def head_on_rank(rank: Rank, *, beside_embedding: bool) -> float:
    """Return the parameters that one rank of the last stage trains after its layers.

    A tied head is the embedding's own table where both are on one stage; else the last stage keeps a copy of it.
    """
    tied = rank.model.tied and beside_embedding
    parts = head(rank.tuning).parts(rank.model)
    return on_rank((part for part in parts if not (tied and part.name == "head")), rank).dense


def table_on_rank(rank: Rank) -> float:
    """Return the parameters of the token embedding that one rank holds."""
    return rank.share(Embedding().parts(rank.model)[0].size, "vocabulary")
