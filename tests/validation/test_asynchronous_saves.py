"""An asynchronous save stalls training while GPUs copy their state to the host: bytes / bandwidth."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.machine.hardware import HOST_LINK_EFFICIENCY
from simulator.outcome.campaign import checkpoint_bytes, run_input
from simulator.reliability.checkpointing.cost import BARRIER, PAGEABLE, copy_time
from simulator.scenario import Scenario, from_dict
from simulator.workload import states
from simulator.workload.parameters import total_parameters

PCIE_4 = 31e9


def scenario(hosts: int, stack: str, layout: dict[str, str], model: str = "llama-2-7b", **more: Any) -> Scenario:
    return from_dict(
        {
            "version": "1",
            "name": "save",
            "model": model,
            "cluster": {"host": "dgx-a100", "hosts": str(hosts)},
            "stack": stack,
            "parallelism": layout,
            "training": {"steps": "10", "sequence_length": "4096", "global_batch": str(8 * hosts), "microbatch": "1"},
            "checkpoint": {"kind": "fixed", "interval": "1h", "mode": "async"},
        }
        | more
    )


def stall(given: Scenario) -> float:
    found = run_input(given, 3600.0, 1.0).save_cost
    assert found is not None
    return found.stall


@pytest.mark.parametrize("hosts", [1, 2, 4])
def test_fsdp_copies_its_shard_into_pageable_memory(hosts: int):
    """All state is sharded, so that a rank's dictionary is its part of the save."""
    given = scenario(hosts, "torchtitan-2025", {"shard": "parameters"})
    assert stall(given) == pytest.approx(checkpoint_bytes(given) / given.gpus / PAGEABLE, rel=1e-3)


def test_ddp_copies_everything_on_every_gpu():
    """12 bytes a parameter, fp32 weights and two moments, on each of the GPUs, however many there are."""
    one, four = (scenario(hosts, "torchtitan-2025", {"shard": "none"}) for hosts in (1, 4))
    assert stall(one) == pytest.approx(checkpoint_bytes(one) / PAGEABLE, rel=1e-3)
    assert stall(four) == stall(one)


def test_megatron_deals_the_save_out_and_copies_into_pinned_memory():
    given = scenario(1, "megatron-core-2024", {"tensor": "4", "shard": "optimizer"}, model="llama-2-70b")
    assert stall(given) == pytest.approx(checkpoint_bytes(given) / 8 / (HOST_LINK_EFFICIENCY * PCIE_4))


@pytest.mark.parametrize(("model", "seconds"), [("llama-2-7b", 6.3), ("llama-2-13b", 14.0)])
def test_pytorchs_save_of_7b_stopped_training_for_6_seconds_and_of_13b_for_up_to_14(model: str, seconds: float):
    """https://pytorch.org/blog/reducing-checkpointing-times: the number of GPUs is not said; eight, which 13B needs."""
    given = scenario(1, "fsdp-2023", {"shard": "parameters"}, model=model)
    assert stall(given) == pytest.approx(seconds, rel=0.2)


def test_a_save_of_a_stated_size_is_dealt_out_to_all_gpus():
    policy = {"kind": "fixed", "interval": "1h", "mode": "async", "bytes": "2TB"}
    given = scenario(2, "torchtitan-2025", {"shard": "none"}, checkpoint=policy)
    assert stall(given) == pytest.approx(2e12 / 16 / PAGEABLE)


def test_the_smallest_save_takes_as_long_as_ranks_need_to_agree():
    given = scenario(128, "megatron-core-2024", {"tensor": "2", "shard": "optimizer"})
    assert stall(given) == BARRIER


@settings(max_examples=30)
@given(nbytes=st.floats(1e6, 1e12), link=st.floats(1e9, 1e12), memory=st.floats(1e9, 1e12), faster=st.floats(1, 10))
def test_faster_links_and_pinned_memory_never_make_a_copy_longer(
    nbytes: float, link: float, memory: float, faster: float
):
    pinned, pageable = (copy_time(nbytes, link=link, memory=memory, pageable=kind) for kind in (False, True))
    assert pinned <= pageable
    assert copy_time(nbytes, link=faster * link, memory=faster * memory, pageable=False) <= pinned
    assert pinned == pytest.approx(nbytes / min(link, memory))


@pytest.mark.parametrize("master", ["none", "fp32"])
@pytest.mark.parametrize("stack", ["megatron-deepspeed-2022", "deepspeed-2022", "megatron-core-2024"])
def test_fp32_saves_12_bytes_a_parameter_whatever_is_stated_of_a_master(stack: str, master: str):
    """fp32 weights are their own master, with no copy and nothing extra beside it."""
    precise = {"steps": "10", "sequence_length": "2048", "global_batch": "8", "precision": "fp32"}
    given = scenario(1, stack, {}, training=precise | {"states": {"master": master}})
    assert states.checkpoint(given.rank) == pytest.approx(12 * total_parameters(given.rank.model))
