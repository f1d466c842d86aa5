"""The layers and the ends of a model under a method of training."""

from __future__ import annotations

from functools import lru_cache

from simulator.workload.blocks.base import Block, Blocks
from simulator.workload.blocks.embedding import Embedding
from simulator.workload.blocks.head import Head
from simulator.workload.blocks.tuned import tuned
from simulator.workload.layers import layers_of
from simulator.workload.model import Model
from simulator.workload.tuning import Tuning


@lru_cache(maxsize=1024)
def layers(model: Model, tuning: Tuning) -> tuple[Blocks, ...]:
    """Return the blocks of each layer as `layers_of` does, with what of them learns; equal layers share a tuple."""
    if tuning.everything:
        return layers_of(model)
    seen: dict[Blocks, Blocks] = {}
    found = (
        tuple(tuned(block, tuning, tuning.layer(place)) for block in blocks)
        for place, blocks in enumerate(layers_of(model))
    )
    return tuple(seen.setdefault(blocks, blocks) for blocks in found)


@lru_cache(maxsize=1024)
def embedding(tuning: Tuning) -> Block:
    return tuned(Embedding(), tuning, tuning.end("embedding"))


@lru_cache(maxsize=1024)
def head(tuning: Tuning) -> Block:
    return tuned(Head(), tuning, tuning.end("head"))
