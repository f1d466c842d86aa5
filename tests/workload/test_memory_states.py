"""Bytes a parameter, who shares them, and what a checkpoint weighs."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from model_entries import model
from stack_entries import stack

from simulator.kinds import kinds
from simulator.workload.layout import Context, Parallelism, Shard
from simulator.workload.model import Model
from simulator.workload.optimizers.adamw import AdamW
from simulator.workload.optimizers.base import Optimizer
from simulator.workload.optimizers.lion import Lion
from simulator.workload.parameters import total_parameters
from simulator.workload.rank import Rank
from simulator.workload.stack import Stack, States
from simulator.workload.states import checkpoint, held, moments, widths
from simulator.workload.training import Precision, Training

OPTIMIZERS = kinds("simulator.workload.optimizers", Optimizer)
ALONE = Parallelism()
SMALL = Model(layers=2, hidden=64, heads=2, vocabulary=128)
BF16 = States(weights="bf16", gradients="bf16", master="fp32", moments="fp32")


def rank(model: Model, stack: Stack, layout: Parallelism = ALONE, data: int = 1, **training) -> Rank:
    return Rank.of(model, stack, layout, Training(**({"states": stack.states} | training)), data=data)


def bytes_a_parameter(stack: Stack, **training) -> float:
    width = widths(rank(SMALL, stack, **training))
    return width.weights + width.gradients + width.optimizer + width.extra_gradient


def test_sixteen_bytes_a_parameter_make_70b_need_14_h100():
    sixteen = bytes_a_parameter(Stack(states=BF16))
    assert sixteen == 16
    assert 70e9 * sixteen == pytest.approx(1.12e12)
    assert math.ceil(70e9 * sixteen / 80e9) == 14


@pytest.mark.parametrize(
    "expected, given",
    [
        (12, Stack(states=BF16)),  # Lion: one moment
        (18, Stack()),  # Korthikanti et al. 2022
        (20, stack("nanotron-2024")),  # 16-bit gradients beside their fp32 sum
        (16, stack("torchtitan-2024")),  # fp32 weights are their own master
        (8, stack("torchtune-2025")),  # all in bf16
    ],
)
def test_bytes_a_parameter_by_stack(expected, given):
    assert bytes_a_parameter(given, optimizer=Lion() if expected == 12 else AdamW()) == expected


def test_a_checkpoint_in_mixed_precision_is_14_bytes_a_parameter():
    assert checkpoint(rank(SMALL, Stack(), states=BF16)) == 14 * total_parameters(SMALL)


def test_bloom_checkpoint():
    bloom = model("bloom-176b")
    given = stack("megatron-deepspeed-2022")
    nbytes = checkpoint(rank(bloom, given))
    assert nbytes / 2**30 == pytest.approx(2294.8, rel=0.005)
    weights = widths(rank(bloom, given)).weights
    assert weights * total_parameters(bloom) / 2**30 == pytest.approx(327.8, rel=0.005)


def test_single_precision_is_16_bytes_with_no_second_master():
    assert bytes_a_parameter(Stack(), precision=Precision(kind="fp32")) == 16


def test_fp8_weights_live_in_one_byte_where_the_stack_keeps_no_other():
    fp8 = Precision(kind="fp8")
    assert bytes_a_parameter(Stack(states=BF16, quantized_weights=True), precision=fp8) == 15
    assert bytes_a_parameter(Stack(states=BF16), precision=fp8) == 16


@pytest.mark.parametrize(
    "optimizer, expected",
    [("adamw", 8), ("lion", 4), ("sgd", 4), ("adam-8bit", 2 + 8 / 256), ("adafactor", 4 / 64 + 4 / 256)],
)
def test_moments(optimizer, expected):
    assert moments(SMALL, OPTIMIZERS[optimizer](), 4) == pytest.approx(expected)


def test_muon_keeps_two_moments_for_embeddings_only():
    ends = 2 * SMALL.vocabulary * SMALL.hidden
    expected = 4 * (total_parameters(SMALL) + ends)
    assert moments(SMALL, OPTIMIZERS["muon"](), 4) * total_parameters(SMALL) == pytest.approx(expected)


@pytest.mark.parametrize(
    "level, expected",
    [("none", (2, 4, 12)), ("optimizer", (2, 4, 1.5)), ("gradients", (2, 0.5, 1.5)), ("parameters", (0.25, 0.5, 1.5))],
)
def test_each_level_shards_one_more_state(level, expected):
    assert held(1, 8, rank(SMALL, Stack(), Parallelism(shard=Shard(level=level)))) == expected


def test_fsdp_that_keeps_its_weights_gathered_holds_them_twice():
    given = stack("torchtitan-2024")
    gradients, whole = (Parallelism(pipeline=2, shard=Shard(level=level)) for level in ("gradients", "parameters"))
    kept = replace(given, keep_unsharded=True)
    assert held(1, 8, rank(SMALL, given, gradients)).weights == 4 / 8 + 2
    assert held(1, 8, rank(SMALL, kept, whole)) == (4 / 8 + 2, 4 / 8 + 4, 8 / 8)


def test_16_bit_weights_that_fsdp_keeps_gathered_lie_beside_their_shard():
    layout, given = Parallelism(shard=Shard(level="gradients")), stack("torchtune-2025")
    assert held(1, 8, rank(SMALL, given, layout)) == (2 / 8 + 2, 2 / 8, 4 / 8)
    assert held(1, 8, rank(SMALL, replace(given, gathers_from="parameters"), layout)).weights == 2


def test_experts_are_sharded_over_the_ranks_that_hold_the_same_ones():
    parallelism = Parallelism(tensor=2, context=Context(size=2), expert=8, expert_tensor=1)
    one = rank(SMALL, Stack(), parallelism, data=16)
    assert (one.sharers, one.expert_sharers) == (32, 2 * 2 * 16 // 8)


def test_replicas_of_a_hybrid_shard_shrink_the_group():
    parallelism = Parallelism(shard=Shard(level="parameters", replicas=4))
    assert rank(SMALL, Stack(), parallelism, data=32).sharers == 8
