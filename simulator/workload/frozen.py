"""Bytes of the weights that do not learn, in the format in which they are stored.

They have no gradients, no master copy and no moments. Parameter sharding shares them out like any weights, and gathers
them as they are stored.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from simulator.sums import added
from simulator.units import Bytes
from simulator.workload.blocks.base import Blocks, Part
from simulator.workload.learning import embedding, head
from simulator.workload.methods.base import PLAIN, WIDTHS
from simulator.workload.parameters import Parameters, frozen_layer_parts, on_rank
from simulator.workload.rank import Rank
from simulator.workload.replica import Content
from simulator.workload.states import LEVELS, widths

LEFT_ALONE = ("int4",)
"""Quantised formats beside which PEFT casts no other weights: `prepare_model_for_kbit_training` of its `utils/other.py`
goes past a base of GPTQ."""


def width(rank: Rank, *, matrix: bool) -> Bytes:
    """Return the bytes of a frozen weight: of a matrix inside a layer, or of anything else."""
    stored = rank.tuning.method.stored
    cast = rank.stack.small_weights == "fp32" and stored not in (None, *PLAIN, *LEFT_ALONE)
    if stored == "fp32" or (cast and not matrix):
        return WIDTHS["fp32"]
    return WIDTHS[stored] if stored and matrix else widths(rank).compute


def _stored(parts: Iterable[Part], rank: Rank) -> Parameters:
    total = Parameters()
    for part in parts:
        total = total.plus(on_rank((part,), rank), width(rank, matrix=part.matrix is not None))
    return total


@lru_cache(maxsize=4096)
def layer_bytes(rank: Rank, blocks: Blocks) -> Parameters:
    """Return the bytes of the frozen weights of one layer on a rank, those of experts apart."""
    return _stored(frozen_layer_parts(rank.model, blocks), rank)


@lru_cache(maxsize=1024)
def embedding_bytes(rank: Rank) -> Bytes:
    return _stored(embedding(rank.tuning).frozen(rank.model), rank).dense


@lru_cache(maxsize=1024)
def head_bytes(rank: Rank, *, beside_embedding: bool) -> Bytes:
    """Return the bytes of a frozen head; a tied one is the embedding's table where both are on one stage."""
    tied = rank.model.tied and beside_embedding
    parts = head(rank.tuning).frozen(rank.model)
    return _stored((part for part in parts if not (tied and part.name == "head")), rank).dense


def ends_bytes(rank: Rank, held: tuple[Content, ...]) -> Bytes:
    """Return the bytes of the frozen ends of a stage."""
    before, behind = any(chunk.embedding for chunk in held), any(chunk.head for chunk in held)
    table = embedding_bytes(rank.inside) if before else 0.0
    return table + (head_bytes(rank.inside, beside_embedding=before) if behind else 0.0)


def bytes_on_rank(rank: Rank, held: tuple[Content, ...]) -> Parameters:
    """Return the bytes of the frozen weights of a stage on one rank, before they are shared out."""
    total = Parameters(dense=ends_bytes(rank, held))
    for chunk in held:
        for blocks, count in chunk.layers:
            total = total.plus(layer_bytes(rank.inside, blocks), count)
    return total


def held(rank: Rank, contents: tuple[Content, ...]) -> Bytes:
    """Return the bytes of the frozen weights of a stage that one rank keeps.

    FSDP that shards gradients only keeps whole weights beside its share of them.
    """
    if rank.tuning.everything:
        return 0.0
    whole, order = bytes_on_rank(rank, contents), LEVELS.index(rank.shard.level)
    shared = whole.dense / rank.sharers + whole.experts / rank.expert_sharers
    if order == LEVELS.index("parameters"):
        return shared + (added(whole) if rank.unsharded else 0.0)
    return added(whole) + (shared if rank.layer_by_layer else 0.0)


def gradients(rank: Rank, contents: tuple[Content, ...], microbatches: int) -> Bytes:
    """Return the bytes of gradients that frozen weights have because they share a unit of FSDP with ones that learn.

    Such a unit has one gradient for all its weights ("equivalent to not freezing those parameters", the notes on
    `use_orig_params` in PyTorch's `fully_sharded_data_parallel.py`). It is whole until the step's last microbatch
    (`no_sync`), and sharded where there is only one.
    """
    if rank.tuning.everything or not rank.stack.frozen_gradients or not rank.layer_by_layer:
        return 0.0
    layers = (layer for chunk in contents for layer in chunk.layers)
    whole = added(count * added(layer_bytes(rank.inside, blocks)) for blocks, count in layers)
    return whole if microbatches > 1 else whole / rank.sharers


def gathered(rank: Rank, contents: tuple[Content, ...]) -> tuple[Bytes, Bytes]:
    """Return the bytes of frozen weights that are gathered at a time, and of the ends, which stay gathered."""
    if rank.tuning.everything:
        return 0.0, 0.0
    kinds = dict.fromkeys(blocks for chunk in contents for blocks, _ in chunk.layers)
    layers = max((added(layer_bytes(rank.inside, blocks)) for blocks in kinds), default=0.0)
    return layers, ends_bytes(rank, contents)
