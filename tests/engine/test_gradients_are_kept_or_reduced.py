"""A gradient that is shared out between microbatches is reduced in each of them, whatever the stack."""

from __future__ import annotations

from typing import Any

import pytest

from simulator import catalog
from simulator.engine.prices.assembly import assembly
from simulator.scenario import Scenario, from_dict
from simulator.simulation import fits

STACKS = catalog.names("stack")
DATA = 8
EVERY_LEVEL = ["none", "optimizer", "gradients", "parameters"]
"""The rule is one for all, whatever a framework has."""


def scenario(stack: str, level: str, **parallelism: Any) -> Scenario:
    return from_dict(
        {
            "version": 1,
            "model": "llama-3.1-8b",
            "cluster": {"host": "hgx-h100", "hosts": parallelism.get("pipeline", 1)},
            "stack": {"base": stack, "shards": EVERY_LEVEL, "axes": ["tensor", "pipeline"]},
            "parallelism": {"shard": level, **parallelism},
            "training": {"steps": 1, "sequence_length": 4096, "global_batch": 16 * DATA, "microbatch": 1},
        }
    )


def reduced(one: Scenario) -> float:
    """Return the bytes that one GPU of each stage sends to reduce gradients, all stages together."""
    step = assembly(one).step()
    chunks = sum(nbytes for chunk in step.chunks for transfer in chunk.reduce for _, nbytes in transfer.payload)
    layers = sum(nbytes for chunk in step.chunks for unit in chunk.layers for _, nbytes in unit.reduce.payload)
    return chunks * (one.microbatches if step.reduce_each_round else 1) + layers * one.microbatches


def gradients(one: Scenario) -> float:
    return sum(stage["gradients_bytes"] for stage in fits(one).stages)


@pytest.mark.parametrize("pipeline", [1, 2])
@pytest.mark.parametrize("stack", STACKS)
def test_gradients_that_memory_frees_are_reduced_in_every_microbatch(stack: str, pipeline: int) -> None:
    """What is freed is the share of each gradient that other ranks keep: (n - 1) / n of all, or nothing."""
    whole = scenario(stack, "optimizer", pipeline=pipeline)
    for level in ("gradients", "parameters"):
        shared = scenario(stack, level, pipeline=pipeline)
        freed = max(gradients(whole) - gradients(shared), 0.0) / gradients(whole)
        assert reduced(shared) >= 0.999 * freed * shared.microbatches * reduced(whole)
        assert freed > 0.5 or freed == 0.0
