"""How many bytes the state of training takes on one rank: weights, gradients, master weights and moments.

Each state has its own format and its own group that shares it out (ZeRO, Rajbhandari et al., 2019, arXiv
1910.02054; FSDP, Zhao et al., 2023, arXiv 2304.11277): optimizer state from level 1 on, gradients from level 2,
weights at level 3. Dense parameters are shared over data x context ranks, experts over the ranks that hold the
same experts. 16-bit weights with fp32 gradients, master weights and two moments are 18 bytes a parameter.
"""

from __future__ import annotations

from typing import NamedTuple

from simulator.units import Bytes
from simulator.workload.layout import Parallelism
from simulator.workload.model import Model
from simulator.workload.parameters import mtp_parameters, total_parameters
from simulator.workload.stack import Stack, States
from simulator.workload.training import Training

WIDTH: dict[str, float] = {"fp32": 4, "bf16": 2, "fp16": 2, "fp8": 1, "int8": 1, "none": 0}
LEVELS = ("none", "optimizer", "gradients", "parameters")
BLOCK = 256
"""Values that share one fp32 scale in 8-bit optimizers (torchao, bitsandbytes 0.45; Dettmers et al., 2021: 2,048)."""


class Widths(NamedTuple):
    """Bytes a parameter."""

    weights: Bytes
    gradients: Bytes
    optimizer: Bytes
    """Master weights, moments and what the stack adds to them."""
    compute: Bytes
    """Weights as layers use them."""
    extra_gradient: Bytes
    extra_state: Bytes
    """Of `optimizer`, what the stack adds to master weights and moments."""


def widths(model: Model, stack: Stack, training: Training) -> Widths:
    """Return the bytes a parameter of each state.

    fp32 training has fp32 weights that are their own master. An fp8 recipe that keeps its weights in fp8 only
    does so for every matrix; embeddings, a small part, are counted with them.
    """
    states, kind = training.states, training.precision.kind
    if kind in ("fp32", "tf32"):
        states = States(weights="fp32", gradients="fp32", master="none", moments=states.moments)
    weights, compute = WIDTH[states.weights], 4.0 if kind in ("fp32", "tf32") else 2.0
    if stack.quantized_weights and kind in ("fp8", "mxfp8", "nvfp4") and states.weights in ("bf16", "fp16"):
        weights = compute = 1.0
    extra = stack.extra_state if states.master != "none" else 0.0
    return Widths(
        weights=weights,
        gradients=WIDTH[states.gradients],
        optimizer=WIDTH[states.master] + moments(model, training.optimizer, WIDTH[states.moments]) + extra,
        compute=min(weights, compute),
        extra_gradient=stack.extra_gradient,
        extra_state=extra,
    )


def moments(model: Model, optimizer: str, width: Bytes) -> Bytes:
    """Return the bytes a parameter of an optimizer's moments, each of `width` bytes a value.

    Adam and AdamW have two; Lion and SGD with momentum one; Adafactor a row and a column instead of a matrix;
    Muon one for matrices inside the layers, Adam's two for embeddings and head; 8-bit Adam two of one byte and a
    scale a block.
    """
    if optimizer == "adam-8bit":
        return 2 * (1 + 4 / BLOCK)
    if optimizer in ("lion", "sgd"):
        return width
    if optimizer == "adafactor":
        return width * (1 / model.hidden + 1 / model.ffn)
    if optimizer == "muon":
        ends = (1 if model.tied else 2) * model.vocabulary * model.hidden
        return width * (1 + ends / total_parameters(model))
    return 2 * width


class Groups(NamedTuple):
    """Ranks that share out the state of dense parameters and of experts."""

    dense: int
    experts: int


def groups(parallelism: Parallelism, data: int) -> Groups:
    """Return the sizes of the sharding groups: replicas of HSDP each shard on their own."""
    replicas = parallelism.shard.replicas
    dense = parallelism.context.size * data // replicas
    block = parallelism.tensor * parallelism.context.size * data
    experts = block // (parallelism.expert * parallelism.expert_tensor) // replicas
    return Groups(dense=max(dense, 1), experts=max(experts, 1))


class Held(NamedTuple):
    """Bytes of state on one rank."""

    weights: Bytes
    gradients: Bytes
    optimizer: Bytes


def held(parameters: float, shares: int, width: Widths, *, level: str, unsharded: bool = False) -> Held:
    """Return the bytes of state for `parameters` of one rank, shared out over `shares` ranks.

    Under FSDP (weights that are their own master) a level below `parameters` still shards the fp32 weights and
    keeps gathered ones beside them. `unsharded`: weights and gradients stay whole between microbatches, as FSDP
    does with a pipeline.
    """
    order = LEVELS.index(level)
    own = width.weights > width.compute
    weights = width.weights / (shares if order == 3 or (own and order) else 1)
    if (own and 0 < order < 3) or (unsharded and order == 3):
        weights += width.compute
    gradients = width.gradients / (shares if order >= 2 else 1)
    if unsharded and order == 3:
        gradients += width.gradients
    optimizer = width.optimizer / (shares if order >= 1 else 1)
    return Held(
        weights=parameters * weights,
        gradients=parameters * (gradients + width.extra_gradient),
        optimizer=parameters * optimizer,
    )


def checkpoint(model: Model, stack: Stack, training: Training) -> Bytes:
    """Return the bytes of one checkpoint of the whole model: weights, master weights and moments.

    Mixed precision with Adam writes 14 bytes a parameter (2 + 4 + 8); gradients are not saved.
    """
    width = widths(model, stack, training)
    count = total_parameters(model) + sum(mtp_parameters(model).values())
    extra = stack.extra_state if training.states.master != "none" else 0.0
    return count * (width.weights + width.optimizer - extra)
