"""How many bytes the state of training takes on one rank: weights, gradients, master weights and moments.

Each state has its own format and its own group that shares it out (ZeRO, Rajbhandari et al., 2019, arXiv
1910.02054; FSDP, Zhao et al., 2023, arXiv 2304.11277): optimizer state from level 1 on, gradients from level 2,
weights at level 3. Dense parameters are shared over data x context ranks, experts over the ranks that hold the
same experts. 16-bit weights with fp32 gradients, master weights and two moments are 18 bytes a parameter.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from simulator.units import Bytes
from simulator.workload.model import Model
from simulator.workload.optimizers.base import Optimizer, Widths
from simulator.workload.parameters import mtp_parameters, total_parameters, trained_parameters
from simulator.workload.rank import LOW_PRECISION, Rank
from simulator.workload.stack import WIDTH, States

FP32 = States(weights="fp32", gradients="fp32", master="none", moments="fp32")
HALF = ("bf16", "fp16")
LEVELS = ("none", "optimizer", "gradients", "parameters")


@lru_cache(maxsize=1024)
def widths(rank: Rank) -> Widths:
    """Return the bytes a parameter of each state.

    fp32 training has fp32 weights that are their own master. An fp8 recipe that keeps its weights in fp8 only
    does so for every matrix; embeddings, a small part, are counted with them.
    """
    states, stack, kind = _formats(rank), rank.stack, rank.precision.kind
    weights, compute = WIDTH[states.weights], 4.0 if kind in ("fp32", "tf32") else 2.0
    if stack.quantized_weights and kind in LOW_PRECISION and states.weights in ("bf16", "fp16"):
        weights = compute = 1.0
    extra = stack.extra_state if states.master != "none" else 0.0
    return Widths(
        weights=weights,
        gradients=WIDTH[states.gradients],
        optimizer=WIDTH[states.master] + moments(rank.model, rank.optimizer, WIDTH[states.moments]) + extra,
        compute=min(weights, compute),
        extra_gradient=stack.extra_gradient,
        extra_state=extra,
        updated=weights * (2 if states.master == "none" else 1),
        copies=stack.update_copies * (2 if states.weights == "fp32" and rank.states.weights in HALF else 1),
        sweeps=stack.update_sweeps,
    )


def _formats(rank: Rank) -> States:
    """Return the formats of the states as they are kept: fp32 training, and shards made fp32, have no master copy."""
    if rank.stack.fp32_shards and rank.layer_by_layer:
        return FP32
    if rank.precision.kind in ("fp32", "tf32"):
        return replace(FP32, moments=rank.states.moments)
    return rank.states


def moments(model: Model, optimizer: Optimizer, width: Bytes) -> Bytes:
    """Return the bytes a parameter of an optimizer's moments, of `width` bytes a value, in the mean over the model."""
    inside, outside = (optimizer.moments(model, width, end=end) for end in (False, True))
    ends = (1 if model.tied else 2) * model.vocabulary * model.hidden
    return inside + (outside - inside) * ends / total_parameters(model)


class Held(NamedTuple):
    """Bytes of state on one rank."""

    weights: Bytes
    gradients: Bytes
    optimizer: Bytes


def held(parameters: float, shares: int, rank: Rank) -> Held:
    """Return the bytes of state for `parameters` of one rank, shared out over `shares` ranks.

    Under FSDP (weights that are their own master, or are gathered layer by layer) a level below `parameters` still
    shards the weights and keeps gathered ones beside them.
    """
    width, order = widths(rank), LEVELS.index(rank.shard.level)
    own, whole = width.weights > width.compute or rank.layer_by_layer, rank.unsharded and order == 3
    weights = width.weights / (shares if order == 3 or (own and order) else 1)
    if (own and 0 < order < 3) or whole:
        weights += width.compute
    gradients = width.gradients / (shares if order >= 2 else 1)
    if order >= 2 and not rank.keeps_gradient_shard:
        gradients += width.gradients
    optimizer = width.optimizer / (shares if order >= 1 else 1)
    return Held(
        weights=parameters * weights,
        gradients=parameters * (gradients + width.extra_gradient),
        optimizer=parameters * optimizer,
    )


def checkpoint(rank: Rank) -> Bytes:
    """Return the bytes of one checkpoint: weights, master weights and moments of what learns, and frozen parts.

    Mixed precision with Adam writes 14 bytes per parameter (2 + 4 + 8). Gradients are not saved. Under full training
    the parts that `freeze` names are saved too, as weights alone. Beside adapters the frozen model is not saved.
    """
    width, whole, tuning = widths(rank), total_parameters(rank.model), rank.tuning
    trained = trained_parameters(rank.model, tuning)
    fixed = whole - trained if tuning.method.trains_base else 0
    learning = trained + sum(mtp_parameters(rank.model).values())
    return learning * (width.weights + width.optimizer - width.extra_state) + fixed * width.compute


def saved(parameters: float, shares: int, rank: Rank) -> Bytes:
    """Return the bytes that one rank's state dictionary has of `parameters`, which `shares` ranks share out.

    What is not shared out is in the dictionary of every rank that has it.
    """
    width, order = widths(rank), LEVELS.index(rank.shard.level)
    own = width.weights > width.compute
    weights = width.weights / (shares if order == 3 or (own and order) else 1)
    return parameters * (weights + (width.optimizer - width.extra_state) / (shares if order else 1))
