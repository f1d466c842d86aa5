"""Learned attention sinks and biases of experts: which kernel runs, what is kept, what is moved."""

from __future__ import annotations

from dataclasses import replace

import pytest
from model_entries import model
from stack_entries import stack

from simulator.machine import hardware
from simulator.machine.kernels import attention
from simulator.workload import layer
from simulator.workload.blocks.experts import bias_bytes
from simulator.workload.layer import kept_bytes
from simulator.workload.layers import blocks_of
from simulator.workload.layout import Parallelism
from simulator.workload.model import Model
from simulator.workload.operations import Traffic
from simulator.workload.rank import Rank, attention_kernel
from simulator.workload.stack import Stack
from simulator.workload.training import Training

H100 = hardware.gpu("h100")
PLAIN = Model(layers=2, hidden=1024, heads=8, vocabulary=1024)
SINKS = replace(PLAIN, sinks=True)
GPT_OSS = model("gpt-oss-20b")
SEQUENCE = 4096


def test_sinks_take_the_kernel_of_the_stack_that_knows_them() -> None:
    bridge = stack("megatron-bridge-2026")
    assert attention_kernel(SINKS, bridge, 4) == "cudnn"
    assert attention_kernel(PLAIN, replace(bridge, attention="flash-3"), 4) == "flash-3"
    assert attention_kernel(SINKS, Stack(), 4) == "sinks"


def test_a_sink_adds_two_copies_of_the_scores_to_plain_pytorch() -> None:
    shape = {"batch": 2, "heads": 8, "queries": SEQUENCE, "keys": SEQUENCE, "head_size": 64}
    eager, sinks = (attention.time(H100, kernel=kernel, **shape) for kernel in ("eager", "sinks"))
    bandwidth = H100.memory_bandwidth * H100.kernels.elementwise.fused
    copies = 2 * (2 + 2) * 2 * 8 * SEQUENCE**2
    assert sinks - eager == pytest.approx(copies / bandwidth)


def test_unfused_attention_computes_what_a_window_hides() -> None:
    shape = {"batch": 1, "heads": 8, "queries": SEQUENCE, "keys": SEQUENCE, "head_size": 64}
    whole, window = (attention.time(H100, kernel="sinks", window=size, **shape) for size in (None, 128))
    assert whole == window
    assert attention.time(H100, kernel="cudnn", window=128, **shape) < attention.time(H100, kernel="cudnn", **shape) / 2


def test_unfused_sinks_keep_the_scores_twice_and_fused_ones_none() -> None:
    def core(shape: Model, software: Stack) -> float:
        rank = Rank.of(shape, software, Parallelism(), Training(sequence_length=SEQUENCE))
        return kept_bytes(rank, blocks_of(shape, 0))

    fused = Stack(sinks="cudnn")
    scores = 8 * SEQUENCE**2
    assert core(SINKS, fused) == core(PLAIN, fused)
    statistics = 4 * 8 * SEQUENCE
    assert core(SINKS, Stack()) - core(PLAIN, Stack()) == pytest.approx(4 * scores - statistics)


def traffic(software: Stack) -> list[Traffic]:
    layout, training = Parallelism(expert=8), Training(sequence_length=SEQUENCE)
    rank, blocks = Rank.of(GPT_OSS, software, layout, training), blocks_of(GPT_OSS, 0)
    programs = layer.forward(rank, blocks), layer.backward(rank, blocks)
    return [one.work for program in programs for one in program if "expert bias" in one.name]  # type: ignore[misc]


def test_the_bias_of_experts_moves_12_bytes_a_value_forward_and_16_back() -> None:
    rows = SEQUENCE * 4
    forward, backward = traffic(Stack())
    assert (forward.nbytes, forward.kernels) == (12 * rows * 2880, 2 * 4 + 1)
    assert (backward.nbytes, backward.kernels) == (16 * rows * 2880, 5 * 4 + 1)
    assert traffic(Stack(expert_bias="fused")) == []


def test_wide_probabilities_of_a_fused_dispatcher_widen_the_bias() -> None:
    assert bias_bytes(2, 2) == (12, 16)
    assert bias_bytes(2, 4) == (28, 40)
    forward, backward = traffic(Stack(moe_dispatcher="fused"))
    assert backward.nbytes / forward.nbytes == pytest.approx(40 / 28)
