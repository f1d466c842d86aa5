"""Whom a rank shares state with is the same for the memory that it saves and for the bytes that it sends."""

from __future__ import annotations

from itertools import product

import pytest

from simulator.engine.prices.assembly import assembly
from simulator.engine.step.transfers import SCALE_OUT, Way
from simulator.errors import ForetrainError
from simulator.scenario import Scenario, from_dict


def experts(tensor: int, expert: int, pipeline: int, replicas: int, level: str = "parameters") -> Scenario:
    return from_dict(
        {
            "version": 1,
            "model": "mixtral-8x7b",
            "cluster": {"host": "hgx-h100", "hosts": 4},
            "stack": {"base": "torchtitan-2025", "shards": [level]},
            "parallelism": {
                "tensor": tensor,
                "pipeline": pipeline,
                "expert": expert,
                "shard": {"level": level, "replicas": replicas},
            },
            "training": {"steps": 1, "sequence_length": 4096, "global_batch": 128, "microbatch": 1},
        }
    )


@pytest.mark.parametrize("level", ["optimizer", "gradients", "parameters"])
def test_memory_and_time_share_state_with_the_same_ranks(level: str) -> None:
    tried = 0
    for sizes in product((1, 2), (1, 2, 4, 8), (1, 2), (1, 2, 4)):
        try:
            scenario = experts(*sizes, level=level)
        except ForetrainError:
            continue
        tried += 1
        ranks = {name: channel.ranks for name, channel in assembly(scenario).durations.channels.items()}
        assert ranks["shard"] == scenario.rank.sharers, sizes
        assert ranks["expert_data"] == scenario.rank.expert_sharers, sizes
        same = scenario.rank.tensor * scenario.data // (scenario.rank.expert * scenario.rank.expert_tensor)
        assert ranks["expert_data"] * ranks["expert_replicate"] == same, sizes
    assert tried > 20


def test_replicas_of_hsdp_add_up_the_gradients_of_their_experts() -> None:
    """Two replicas of 16 GPUs: an all-reduce between two ranks moves 2 (n - 1) / n = 1 times each rank's share."""
    scenario = experts(1, 2, 1, 2)
    step = assembly(scenario).step()
    held = scenario.rank.expert_sharers
    assert held == 8
    gradients = sum(unit.experts * unit.count for unit in assembly(scenario).held(assembly(scenario).chunks[0]))
    way = Way("expert_replicate", "ring", SCALE_OUT)
    assert step.sent[way] == pytest.approx(gradients / held * 4 * scenario.microbatches, rel=1e-6)


@pytest.mark.parametrize(("schedule", "tables", "reduced"), [("1f1b", 2, True), ("zb-v", 1, False)])
def test_a_tied_table_is_copied_and_reduced_only_between_stages(schedule: str, tables: int, reduced: bool) -> None:
    """In a V the first stage has both ends of the model, and the table once."""
    tied, untied = (
        assembly(
            from_dict(
                {
                    "version": 1,
                    "model": {"layers": 8, "hidden": 4096, "heads": 32, "vocabulary": 128_000, "tied": tied},
                    "cluster": {"host": "hgx-h100", "hosts": 1},
                    "parallelism": {"pipeline": 4, "schedule": schedule},
                    "training": {"steps": 1, "sequence_length": 4096, "global_batch": 16, "microbatch": 1},
                }
            )
        )
        for tied in (True, False)
    )
    here, there = (sum(held.dense for held in one.parameters) for one in (tied, untied))
    assert there - here == (2 - tables) * 128_000 * 4096
    seconds = [one.seconds for stage in tied.step().end for one in stage if one.name == "tied embedding"]
    assert (max(seconds) > 0) == reduced
