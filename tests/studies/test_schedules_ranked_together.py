"""Layouts of several schedules timed in one go are what each is alone, and none is faster than its FLOPs."""

from __future__ import annotations

import pytest

from simulator.scenario import from_dict
from simulator.simulation import predict
from simulator.studies.layouts import exactly

SCHEDULES = ("1f1b", "zb-h1", "gpipe", "zb-v")


def layout(schedule: str, shard: str = "optimizer", stack: str = "megatron-core-2025"):
    return from_dict(
        {
            "version": 1,
            "model": "llama-3-8b",
            "cluster": {"host": "hgx-h100", "hosts": 2},
            "stack": {"base": stack, "schedules": [schedule], "shards": [shard]},
            "parallelism": {"tensor": 2, "pipeline": 2, "schedule": schedule, "shard": shard},
            "training": {"steps": 1, "sequence_length": 8192, "global_batch": 64, "microbatch": 1},
        }
    )


@pytest.mark.parametrize("order", [SCHEDULES, SCHEDULES[::-1]], ids=["1f1b first", "zb-v first"])
def test_a_schedule_takes_as_long_as_alone_whatever_came_before(order: tuple[str, ...]) -> None:
    layouts = [layout(schedule) for schedule in order]
    for row, alone in zip(exactly(layouts), layouts, strict=True):
        assert row["step_time_s"] == pytest.approx(predict(alone).step_time_s, rel=0.01)
        assert row["mfu"] < 1


def test_a_level_of_sharding_takes_as_long_as_alone_whatever_came_before() -> None:
    layouts = [layout("1f1b", shard, "torchtitan-2025") for shard in ("optimizer", "parameters", "gradients")]
    for row, alone in zip(exactly(layouts), layouts, strict=True):
        assert row["step_time_s"] == pytest.approx(predict(alone).step_time_s, rel=0.01)
