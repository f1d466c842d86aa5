"""A cluster of one more host, with as much more work, has nearly the same step: the network has no cliffs."""

from typing import Any

import pytest

import simulator as ft

MODEL = {"layers": 8, "hidden": 4096, "heads": 32, "vocabulary": 32000}
SHARDED = {"shard": "parameters"}
COPIES = {"shard": "none"}


def step(hosts: int, stack: str, parallelism: dict[str, Any]) -> float:
    return ft.predict(
        {
            "model": MODEL,
            "cluster": {"host": "hgx-h100", "hosts": hosts},
            "stack": stack,
            "parallelism": parallelism,
            "training": {"steps": 1, "sequence_length": 4096, "global_batch": 16 * hosts, "microbatch": 1},
        }
    ).step_time_s


@pytest.mark.parametrize("hosts", [2, 3, 4, 7, 8, 15, 16, 31, 32, 33, 63, 64, 127, 128, 255, 511, 512])
@pytest.mark.parametrize(
    ("stack", "parallelism"),
    [("megatron-core-2025", COPIES), ("torchtitan-2025", SHARDED)],
    ids=["copies", "sharded"],
)
def test_one_more_host_changes_the_step_by_less_than_two_percent(hosts, stack, parallelism):
    assert step(hosts + 1, stack, parallelism) == pytest.approx(step(hosts, stack, parallelism), rel=0.02)
