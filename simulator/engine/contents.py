"""Which layers a chunk of the model has, by kind, and which ends: chunks alike in these hold and do the same."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from typing import NamedTuple

from simulator.workload.layout import Chunk
from simulator.workload.model import Model


class Kind(NamedTuple):
    """What makes layers of one model differ."""

    experts: bool
    window: int | None


class Content(NamedTuple):
    layers: tuple[tuple[Kind, int], ...]
    """How many of each kind."""
    embedding: bool
    head: bool


@lru_cache(maxsize=1024)
def kinds_of(model: Model) -> tuple[Kind, ...]:
    """Return the kind of each layer, those of MTP modules after the last."""
    return tuple(Kind(model.has_experts(i), model.window(i)) for i in range(model.layers + (1 if model.mtp else 0)))


@lru_cache(maxsize=4096)
def content(model: Model, chunk: Chunk) -> Content:
    kinds = Counter(kinds_of(model)[chunk.first : chunk.last])
    return Content(tuple(kinds.items()), chunk.embedding, chunk.head)
