"""Questions that found links busier than they can be: experts, context and sharded weights on the same NICs."""

from __future__ import annotations

from typing import Any

import pytest

import simulator as ft

EXPERTS_ON_RINGS: dict[str, Any] = {
    "model": "mixtral-8x7b",
    "cluster": {"host": {"base": "hgx-h100", "nic_bandwidth": "50Gbps"}, "hosts": 4},
    "stack": "torchtitan-2025",
    "parallelism": {"tensor": 2, "expert": 8, "context": {"size": 16, "kind": "ring"}, "shard": "parameters"},
    "training": {"steps": 1, "sequence_length": 32768, "global_batch": 128, "microbatch": 1, "recompute": "none"},
}
ONE_GPU_HOSTS: dict[str, Any] = {
    "model": "mixtral-8x7b",
    "cluster": {
        "hosts": 64,
        "host": {"base": "hgx-h100", "gpus": 1, "nics": 1, "nic_bandwidth": "50Gbps", "scale_up": {"domain": 1}},
    },
    "stack": {"base": "megatron-core-2025", "moe_dispatcher": "alltoall"},
    "parallelism": {"expert": 8},
    "training": {"steps": 1, "sequence_length": 4096, "global_batch": 64, "microbatch": 1, "recompute": "full"},
}
TENSOR_OVER_HOSTS: dict[str, Any] = {
    "model": "llama-3.1-70b",
    "cluster": {"host": "hgx-h100", "hosts": 8},
    "stack": "megatron-bridge-2025",
    "parallelism": {"tensor": 16, "shard": "parameters"},
    "training": {"steps": 1, "sequence_length": 4096, "global_batch": 128, "microbatch": 1, "recompute": "none"},
}


@pytest.mark.parametrize("asked", [EXPERTS_ON_RINGS, ONE_GPU_HOSTS, TENSOR_OVER_HOSTS])
def test_no_link_is_busier_than_it_can_be_and_a_step_lasts_as_long_as_its_busiest_nic(asked: dict[str, Any]) -> None:
    run = ft.simulate(asked | {"runs": 1})
    for link in run.step.links:
        assert link["busy_share"] <= 1.0
        assert link["bytes"] <= link["bandwidth_bytes_per_s"] * run.step.time_s * (1 + 1e-9)
    assert max(link["busy_share"] for link in run.step.links) > 0.2


@pytest.mark.parametrize(("tensor", "measured"), [(1, 42.5), (2, 43.5)])
def test_qwen3_235b_on_256_h800_with_half_the_nvlink(tensor: int, measured: float) -> None:
    """alibaba/Pai-Megatron-Patch, issue 658: balanced experts, full recompute."""
    found = ft.predict(
        {
            "model": "qwen3-235b-a22b",
            "cluster": {
                "host": {
                    "base": "dgx-h100",
                    "gpu": "h800-sxm-80gb",
                    "scale_up": {"domain": 8, "bandwidth": "200GB/s"},
                },
                "hosts": 32,
            },
            "stack": "megatron-core-2025",
            "training": {
                "steps": 1,
                "sequence_length": 4096,
                "global_batch": 4096,
                "microbatch": 4,
                "recompute": "full",
            },
            "parallelism": {
                "tensor": tensor,
                "pipeline": 32,
                "expert": 8,
                "schedule": {"kind": "interleaved-1f1b", "chunks": 3},
                "split": "slots",
                "shard": "optimizer",
            },
        }
    )
    assert found.step_time_s == pytest.approx(measured, rel=0.15)
