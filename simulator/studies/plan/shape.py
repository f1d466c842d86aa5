"""A model of a wanted size in the shape of a known one: as many layers and as wide as keeps their proportion.

A transformer has about L h^2 parameters, so that both grow with the cube root of the size; heads keep their size, the
MLP its width over hidden, experts their number.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from simulator.errors import InfeasibleError
from simulator.sums import added
from simulator.units import Number
from simulator.workload.model import Model
from simulator.workload.parameters import active_parameters, embedding_parameters, head_parameters

SMALLEST, LARGEST = 1e5, 1e14
SAME = 0.025
"""Logarithm of a ratio of sizes below which the known model is taken as it is."""
PROPORTION = 0.1
"""What a unit of the logarithm of depth over width away from the known model counts against a unit of size."""


def shaped(parameters: Number, like: Model, *, embeddings: bool = True) -> Model:
    """Return a model with about so many active parameters, with or without its embeddings and head."""
    if not SMALLEST <= parameters <= LARGEST:
        raise InfeasibleError(f"no model of {parameters:.3g} parameters; between {SMALLEST:.0e} and {LARGEST:.0e}")
    counted = _all if embeddings else _inside
    growth = (parameters / counted(like)) ** (1 / 3)
    if abs(math.log(parameters / counted(like))) < SAME:
        return like
    found = [
        _with_layers(_widened(like, heads), counted, parameters)
        for heads in _heads(like, growth, embeddings=embeddings)
    ]
    return min(found, key=lambda model: _distance(model, like, counted, parameters))


def size(model: Model, *, embeddings: bool = True) -> int:
    """Return the active parameters of a model, with or without its embeddings and head."""
    return _all(model) if embeddings else _inside(model)


def _all(model: Model) -> int:
    return active_parameters(model)


def _inside(model: Model) -> int:
    outside = embedding_parameters(model) | head_parameters(model)
    return active_parameters(model) - added(
        outside.get(name, 0) for name in ("token_embedding", "position_embedding", "head")
    )


def _heads(like: Model, growth: Number, *, embeddings: bool) -> list[int]:
    """Return numbers of heads around the one in proportion; many are a multiple of eight, so that tensors divide."""
    middle = max(1.0, like.heads * growth)
    quantum = 8 if middle >= 16 else 4 if middle >= 8 else 1
    low = 0.3 if embeddings else 0.6
    first, last = math.floor(low * middle / quantum), math.ceil(1.6 * middle / quantum)
    return [quantum * count for count in range(max(1, first), last + 1)]


def _widened(like: Model, heads: int) -> Model:
    """Return `like` with another number of heads and the width that goes with it."""
    growth = heads / like.heads
    hidden = max(_multiple(like.hidden * growth, 64), 64)
    experts = like.experts
    if experts is not None:
        experts = replace(experts, ffn=max(_multiple(experts.ffn * growth, 64), 64))
    return replace(
        like,
        hidden=hidden,
        heads=heads,
        kv_heads=heads if like.kv_heads == like.heads else math.gcd(like.kv_heads, heads),
        ffn=max(_multiple(like.ffn * growth, 128), 128),
        attention=like.attention.widened(growth),
        experts=experts,
    )


def _with_layers(model: Model, size: Callable[[Model], int], parameters: Number) -> Model:
    """Return the model with the number of layers that comes nearest to `parameters`."""
    least = 1 if model.experts is None else model.experts.dense_layers + 1
    few, more = (replace(model, layers=count) for count in (least + 8, least + 9))
    each = size(more) - size(few)
    wanted = (parameters - size(few)) / each + few.layers
    quantum = 4 if wanted >= 24 else 2 if wanted >= 8 else 1
    return replace(model, layers=max(least, quantum * round(wanted / quantum)))


def _distance(model: Model, like: Model, size: Callable[[Model], int], parameters: Number) -> float:
    proportion = math.log(model.layers / model.hidden * like.hidden / like.layers)
    return abs(math.log(size(model) / parameters)) + PROPORTION * proportion**2


def _multiple(value: float, quantum: int) -> int:
    return round(value / quantum) * quantum
