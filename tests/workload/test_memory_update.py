"""The optimizer's update as a moment of its own: its copies lie beside the state, and activations are gone by then."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stack_entries import stack
from test_memory_peak import GPT, PLAIN, memory, replica_of

from simulator.workload.layout import Parallelism, Shard
from simulator.workload.memory_timeline import allocations, update
from simulator.workload.parameters import total_parameters
from simulator.workload.stack import States
from simulator.workload.training import Offload, Recompute, Training

STATE = ("weights", "gradients", "optimizer")
LEVELS = ("none", "optimizer", "gradients", "parameters")
COPYING = replace(PLAIN, update_copies=6.0)
FULL = {"recompute": Recompute(kind="full"), "sequence_length": 128, "microbatches": 1}


def state(found) -> float:
    return sum(found.stages[0][f"{part}_bytes"] for part in STATE)


def test_copies_of_the_update_replace_activations_at_the_peak():
    stage = memory(GPT, COPYING, **FULL).stages[0]
    assert stage["update_bytes"] == 6 * total_parameters(GPT)
    assert stage["activations_bytes"] == stage["logits_bytes"] == stage["buffers_bytes"] == 0


def test_a_long_sequence_peaks_in_its_backward():
    stage = memory(GPT, COPYING, sequence_length=8192).stages[0]
    assert stage["update_bytes"] == 0
    assert stage["peak_bytes"] == memory(GPT, PLAIN, sequence_length=8192).stages[0]["peak_bytes"]


@settings(max_examples=40, deadline=None)
@given(
    copies=st.sampled_from([0.0, 2.0, 4.0, 6.0, 12.0]),
    level=st.sampled_from(LEVELS),
    sequence=st.sampled_from([128, 1024, 8192]),
    data=st.sampled_from([1, 2, 8]),
    frees=st.booleans(),
)
def test_the_peak_is_never_below_the_state_nor_either_moment(copies, level, sequence, data, frees):
    software = replace(PLAIN, update_copies=copies, update_frees=frees)
    found = memory(GPT, software, data=data, shard=level, sequence_length=sequence)
    backward = memory(GPT, PLAIN, data=data, shard=level, sequence_length=sequence)
    assert found.peak_bytes >= backward.peak_bytes
    assert found.peak_bytes >= state(backward) + found.stages[0]["overhead_bytes"]
    size = Parallelism(shard=Shard(level=level))
    replica = replica_of(
        GPT, software, size, Training(states=software.states, sequence_length=sequence), data, microbatches=8
    )
    moments = [moment.during for moment in allocations(replica, 0)] + [update(replica, 0)]
    assert found.allocated_bytes == pytest.approx(max(moments))


def test_a_group_at_a_time_needs_no_more_than_all_at_once():
    peaks = [
        memory(GPT, replace(COPYING, update_group=group), data=2, shard="parameters", **FULL).peak_bytes
        for group in (0.0, 1e12, 1e8, 1e7)
    ]
    assert peaks[0] == peaks[1]
    assert all(before >= after for before, after in pairwise(peaks))
    assert peaks[0] - peaks[2] == pytest.approx(6 * (total_parameters(GPT) / 2 - 1e8), rel=1e-3)


def test_groups_are_a_matter_of_sharded_parameters():
    one, all_ = (
        memory(GPT, replace(COPYING, update_group=group), data=2, shard="gradients", **FULL) for group in (1e6, 0.0)
    )
    assert one.peak_bytes == all_.peak_bytes


def test_gradients_of_others_are_freed_before_the_update():
    """ZeRO 1 of DeepSpeed: of P whole gradients a rank keeps its share, so the update may not be the peak at all."""
    keeps, frees = (
        memory(GPT, replace(COPYING, update_frees=frees), data=8, shard="optimizer", **FULL) for frees in (False, True)
    )
    count = total_parameters(GPT)
    assert keeps.stages[0]["update_bytes"] == 6 * count / 8
    assert frees.peak_bytes < keeps.peak_bytes


def test_what_the_host_updates_has_its_copies_there():
    here, away = (memory(GPT, COPYING, offload=offload, **FULL) for offload in (None, Offload(optimizer=1.0)))
    assert here.stages[0]["update_bytes"] > 0
    assert away.stages[0]["update_bytes"] == 0
    # Master weights, two moments and the gradients of every parameter, in fp32, of each of eight GPUs.
    assert away.host_peak_bytes == pytest.approx(8 * 16 * total_parameters(GPT))


def test_zero_on_one_gpu_takes_22_bytes_a_parameter():
    """Weights 2, gradients 2, master and moments 12, flat gradients 2 and their fp32 copy 4 (DeepSpeed's `step`)."""
    software = stack("deepspeed-2024")
    assert software.states == States(weights="bf16", gradients="bf16", master="fp32", moments="fp32")
    found = memory(GPT, software, shard="gradients", **FULL)
    assert found.allocated_bytes == pytest.approx(22 * total_parameters(GPT))
