"""Which layers gather their weights for themselves, and how often: what layout and stack say of it.

ZeRO-3 and FSDP gather layer by layer (Zhao et al. 2023, arXiv 2304.11277); so does FSDP that shards gradients only
(``SHARD_GRAD_OP``), but keeps what it gathered for the backward. With a pipeline, some keep weights gathered and
gradients whole between microbatches (``reshard_after_forward=False`` of torchtitan).
"""

from __future__ import annotations

from simulator.units import Count
from simulator.workload.layout import Parallelism
from simulator.workload.stack import Stack


def layer_by_layer(stack: Stack, parallelism: Parallelism) -> bool:
    """Return whether layers gather for themselves."""
    level = parallelism.shard.level
    return level == "parameters" or (level == "gradients" and stack.shard == "parameters")


def every_microbatch(stack: Stack, parallelism: Parallelism) -> bool:
    """Return whether they do so for every microbatch, and reduce their gradients, instead of once a step."""
    kept = stack.keep_unsharded and parallelism.pipeline > 1
    return layer_by_layer(stack, parallelism) and not kept


def times(parallelism: Parallelism) -> Count:
    """Return how often a layer is gathered for a microbatch: again for the backward where it was let go."""
    return 2 if parallelism.shard.level == "parameters" else 1
