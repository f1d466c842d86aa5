"""The blocks of each layer of a model."""

from __future__ import annotations

from functools import lru_cache
from typing import cast

from simulator.workload.blocks.base import Block, Blocks
from simulator.workload.blocks.experts import ExpertMlp
from simulator.workload.blocks.mlp import Mlp
from simulator.workload.model import Model


@lru_cache(maxsize=4096)
def blocks_of(model: Model, layer: int) -> Blocks:
    """Return the blocks of a layer (counted from 0; an MTP module is a layer past the last)."""
    mixer, experts = cast(Block, model.attention.at(layer)), model.experts
    return mixer, ExpertMlp(experts) if experts is not None and experts.in_layer(layer) else Mlp(model.ffn)


@lru_cache(maxsize=1024)
def layers_of(model: Model) -> tuple[Blocks, ...]:
    """Return the blocks of each layer, those of MTP modules after the last; layers alike have the same tuple."""
    seen: dict[Blocks, Blocks] = {}
    layers = (blocks_of(model, layer) for layer in range(model.layers + model.mtp))
    return tuple(seen.setdefault(blocks, blocks) for blocks in layers)


@lru_cache(maxsize=1024)
def kinds_of(model: Model) -> tuple[Blocks, ...]:
    """Return the layers that differ, each once."""
    return tuple(dict.fromkeys(layers_of(model)))
