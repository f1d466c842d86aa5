"""How many floating-point operations training takes a token, by the conventions in use.

A multiplication and its addition are two; the backward is twice the forward.

- ``6n``: 6 N (Kaplan, arXiv 2001.08361);
- ``causal``: 6 N + 6 L s h, attention over the half of the scores that the mask leaves (Megatron-LM since 2024);
- ``full``: 6 N + 12 L s h, attention over all scores (PaLM, arXiv 2204.02311, appendix B).

N is what a token is multiplied with: active experts only, the head, not the lookup of embeddings. h is the width
of attention, heads x head size; latent attention counts the mean of query-key and value heads, and a window
counts the keys it leaves. MTP modules count as what they are: a layer, a projection and the head once more.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

from simulator.sums import added
from simulator.units import Flops
from simulator.workload.blocks.base import Blocks, Convention
from simulator.workload.layers import layers_of
from simulator.workload.learning import layers
from simulator.workload.model import Model
from simulator.workload.parameters import (
    active_mtp_parameters,
    active_parameters,
    embedding_parameters,
    layer_parts,
)
from simulator.workload.tuning import Tuning

CONVENTIONS: tuple[Convention, ...] = ("6n", "causal", "full")


@lru_cache(maxsize=4096)
def flops_per_token(model: Model, sequence: int, convention: Convention = "causal") -> Flops:
    """Return the model FLOPs of one training token in sequences of `sequence` tokens.

    >>> shape = Model(layers=1, hidden=64, heads=1, vocabulary=1, tied=True, gated=False, final_norm=False)
    >>> flops_per_token(shape, 100, "full") - flops_per_token(shape, 100, "6n") == 12 * 100 * 64
    True
    """
    return 6.0 * multiplied_parameters(model) + attention_flops_per_token(model, sequence, convention)


@lru_cache(maxsize=4096)
def trained_flops_per_token(model: Model, tuning: Tuning, sequence: int, convention: Convention = "causal") -> Flops:
    """Return the model FLOPs of one training token, of which a frozen weight takes fewer than one that learns.

    A weight that learns takes 6 (2 in the forward, 2 for the gradient of its input, 2 for its own), a frozen one 4, and
    2 where nothing below it learns, so that no gradient passes. Attention counts as in full training where gradients
    pass, elsewhere a third of it. Adapters are weights that learn. Recompute and dequantising are not counted.
    """
    if tuning.everything:
        return flops_per_token(model, sequence, convention)
    head = multiplied_parameters(model) - added(
        _multiplied(model, blocks) for blocks in layers_of(model)[: model.layers]
    )
    total = (6.0 if tuning.end("head") == "whole" else 4.0) * head
    for place, (base, blocks) in enumerate(zip(layers_of(model), layers(model, tuning), strict=True)):
        count, passes = _multiplied(model, base), tuning.layer(place) != "still"
        own = 6.0 if blocks[0].trains_base else 4.0 if passes else 2.0
        core = added(block.flops(model, sequence, convention) for block in base)
        adapters = 0 if blocks[0].trains_base else added(part.size for part in layer_parts(model, blocks))
        total += own * count + (core if passes else core / 3) + 6.0 * adapters
    return total


def _multiplied(model: Model, blocks: Blocks) -> int:
    """Return the parameters of a layer that a token is multiplied with."""
    return added(part.size - part.idle for part in layer_parts(model, blocks))


@lru_cache(maxsize=1024)
def multiplied_parameters(model: Model) -> int:
    """Return N of 6 N: active parameters with the head, without embedding lookups, MTP modules included."""
    lookups = embedding_parameters(model)
    table = lookups["token_embedding"]
    unused = lookups.get("position_embedding", 0) + (0 if model.tied else table)
    return active_parameters(model) - unused + active_mtp_parameters(model) + model.mtp * table


def attention_flops_per_token(model: Model, sequence: int, convention: Convention = "causal") -> Flops:
    """Return the part that blocks add to that of their parameters, such as scores and their product with values."""
    return added(block.flops(model, sequence, convention) for blocks in layers_of(model) for block in blocks)


def recomputed_flops_per_token(
    model: Model,
    sequence: int,
    convention: Convention = "causal",
    recompute: Literal["none", "selective", "full", "sqrt"] = "full",
) -> Flops:
    """Return the forward FLOPs that are done twice, for hardware utilisation: model FLOPs plus these.

    Full recompute repeats the forward of the layers and not of the head, so that hardware over model FLOPs comes
    near 4/3 (Narayanan, arXiv 2104.04473, appendix); selective repeats the core of attention (Korthikanti, 2205.05198).
    """
    attention = attention_flops_per_token(model, sequence, convention) / 3
    if recompute == "none":
        return 0.0
    if recompute == "selective":
        return attention
    heads = (1 + model.mtp) * embedding_parameters(model)["token_embedding"]
    return 2.0 * (multiplied_parameters(model) - heads) + attention
