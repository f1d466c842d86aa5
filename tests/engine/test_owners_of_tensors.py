"""An optimizer sharded by whole tensors: their owners broadcast them one after the other."""

from __future__ import annotations

from dataclasses import replace

import pytest

from simulator.engine.prices.assembly import assembly
from simulator.engine.prices.constants import Shared
from simulator.engine.step.transfers import Transfer, joined
from simulator.machine import collectives
from simulator.scenario import Scenario, from_dict
from simulator.workload.layers import blocks_of
from simulator.workload.parameters import layer_parts, total_parameters, weight_tensors


def scenario(hosts: int) -> Scenario:
    return from_dict(
        {
            "version": 1,
            "model": "llama-2-7b",
            "cluster": {"host": "dgx-a100-80gb", "hosts": hosts},
            "stack": "internevo-2023",
            "parallelism": {"shard": "optimizer"},
            "training": {"tokens": "1B", "sequence_length": 4096, "global_batch": 8 * hosts, "microbatch": 1},
        }
    )


def gather(hosts: int, unit: str) -> tuple[Transfer, float]:
    """The gather of all weights, and the broadcast of one owner's part."""
    read = scenario(hosts)
    parts = assembly(replace(read, stack=replace(read.stack, shard_unit=unit)), Shared())
    whole = joined(parts.chunk(parts.chunks[0]).gather)
    channel = parts.data.durations.channels["shard"]
    nbytes = sum(parts.parameters[0]) * 2
    owners = min(8 * hosts, 32 * 8 + 3)
    return whole, collectives.time("broadcast", nbytes / owners, channel)


@pytest.mark.parametrize("hosts", [2, 128])
def test_as_many_broadcasts_as_ranks_or_tensors(hosts: int) -> None:
    whole, one = gather(hosts, "tensor")
    assert whole.seconds == pytest.approx(min(8 * hosts, 259) * one)


def test_slices_are_gathered_by_all_at_once() -> None:
    slices, tensors = gather(128, "slice")[0], gather(128, "tensor")[0]
    assert slices.seconds < tensors.seconds / 5


def test_a_7b_has_eight_parts_a_layer_and_three_at_the_ends() -> None:
    model = scenario(1).model
    assert model is not None
    assert (
        weight_tensors(model, 0, 32, embedding=True, head=True)
        == 32 * len(layer_parts(model, blocks_of(model, 0))) + 3
        == 259
    )
    assert total_parameters(model) == 6_738_415_616
