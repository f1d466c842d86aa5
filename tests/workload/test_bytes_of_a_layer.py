"""What the kernels of a layer between its products read and write, value by value."""

from __future__ import annotations

from dataclasses import replace

import pytest
from stack_entries import stack

from simulator.workload import ends, layer, recompute
from simulator.workload.activations import kept, setting
from simulator.workload.layout import Context, Parallelism
from simulator.workload.model import Model
from simulator.workload.operations import Gemm, Program, Traffic
from simulator.workload.shape import Shape
from simulator.workload.stack import Stack, States
from simulator.workload.training import Precision, Recompute, Training

LLAMA = Model(layers=2, hidden=1024, heads=8, vocabulary=1024, ffn=4096)
GPT = replace(LLAMA, gated=False, bias="all", dropout=0.1, activation="gelu", norm="layernorm")
TRAINING = Training(sequence_length=2048, microbatch=2, global_batch=2)
TOKENS = 2 * 2048
STREAM, WIDE = TOKENS * 1024, TOKENS * 4096


def shape(model: Model = LLAMA, software: Stack | None = None, training: Training = TRAINING) -> Shape:
    return Shape.of(model, software or Stack(), Parallelism(), training, "flash-2")


def moved(program: Program, name: str) -> float:
    """Bytes of the elementwise operations of this name."""
    return sum(one.work.nbytes for one in program if one.name == name and isinstance(one.work, Traffic))


def test_a_residual_reads_two_tensors_and_writes_one_both_ways() -> None:
    assert moved(layer.forward(shape()), "mlp residual") == 3 * 2 * STREAM
    assert moved(layer.backward(shape()), "mlp residual backward") == 3 * 2 * STREAM


def test_dropout_writes_its_mask_beside_and_the_backward_masks_and_sums_the_bias() -> None:
    assert moved(layer.forward(shape(GPT)), "mlp residual") == (3 * 2 + 1) * STREAM
    assert moved(layer.backward(shape(GPT)), "mlp residual backward") == (3 * 2 + (2 * 2 + 1) + 2) * STREAM


def test_kernel_by_kernel_dropout_and_a_bias_apart_read_and_write_once_more() -> None:
    eager = Stack(elementwise="eager")
    assert moved(layer.forward(shape(GPT, eager)), "mlp residual") == (3 * 2 + 2 * 2 + 1) * STREAM
    apart = replace(eager, row_bias="apart")
    assert moved(layer.forward(shape(GPT, apart)), "mlp residual") == (3 * 2 + 2 * 2 + 1 + 2 * 2) * STREAM
    assert moved(layer.forward(shape(LLAMA, apart)), "mlp residual") == 3 * 2 * STREAM


@pytest.mark.parametrize(
    ("model", "mlp", "forward", "backward"),
    [(GPT, "fused", 2, 3), (GPT, "eager", 2, 3), (LLAMA, "fused", 3, 5), (LLAMA, "eager", 5, 9)],
)
def test_an_activation_passes_over_its_width(model: Model, mlp: str, forward: int, backward: int) -> None:
    one = shape(model, Stack(mlp=mlp))
    assert moved(layer.forward(one), "mlp activation") == forward * 2 * WIDE
    assert moved(layer.backward(one), "mlp activation backward") == backward * 2 * WIDE


def test_only_products_with_a_bias_sum_its_gradient() -> None:
    qkv = 3 * 1024 * TOKENS
    assert moved(layer.backward(shape(GPT)), "qkv bias") == 2 * qkv
    assert moved(layer.backward(shape(GPT)), "mlp up bias") == 2 * WIDE
    some = layer.backward(shape(replace(LLAMA, bias="qkv")))
    assert moved(some, "qkv bias") == 2 * qkv
    assert moved(some, "mlp up bias") == 0
    assert moved(layer.backward(shape()), "qkv bias") == 0


@pytest.mark.parametrize(("gradients", "width"), [("fp32", 4), ("bf16", 2)])
def test_a_gradient_added_apart_is_read_and_the_main_one_read_and_written_in_its_format(
    gradients: str, width: int
) -> None:
    training = replace(TRAINING, states=States(gradients=gradients))
    plain = layer.backward(shape(LLAMA, Stack(gradient_accumulation_fusion=False), training))
    assert moved(plain, "mlp down accumulate") == 1024 * 4096 * (2 + 2 * width)
    assert moved(layer.backward(shape(LLAMA, Stack(), training)), "mlp down accumulate") == 0


@pytest.mark.parametrize(
    ("scaling", "norm_casts", "nbytes"), [("delayed", False, 4), ("delayed", True, 1), ("current", True, 6)]
)
def test_a_norm_that_casts_leaves_the_transpose(scaling: str, norm_casts: bool, nbytes: int) -> None:
    training = replace(TRAINING, precision=Precision(kind="fp8", scaling=scaling))
    program = layer.forward(shape(LLAMA, Stack(norm_casts=norm_casts), training))
    assert moved(program, "mlp up cast") == nbytes * STREAM
    assert moved(program, "mlp down cast") == {"delayed": 4, "current": 6}[scaling] * WIDE


def test_recompute_that_stops_leaves_out_what_nothing_needs_again() -> None:
    training = replace(TRAINING, recompute=Recompute(kind="full"))
    whole, stopped = (
        recompute.recomputed(shape(LLAMA, Stack(recompute_stops=stops), training)) for stops in (False, True)
    )
    assert stopped == whole[: len(stopped)]
    assert [one.name for one in whole[len(stopped) :]] == ["mlp down", "mlp residual"]
    products = [one.work for one in whole if isinstance(one.work, Gemm)]
    flops = [2 * one.m * one.n * one.k for one in products]
    assert flops[-1] / sum(flops) == 4096 / (3 * 4096 + 4 * 1024)


@pytest.mark.parametrize(("microbatch", "tensor", "kind"), [(1, 2, "fused"), (1, 4, "eager"), (2, 4, "fused")])
def test_the_fused_softmax_takes_squares_in_fours(microbatch: int, tensor: int, kind: str) -> None:
    software, training = Stack(attention="unfused"), replace(TRAINING, microbatch=microbatch)
    assert software.softmax_of(microbatch * 8 / tensor) == kind
    layout = Parallelism(tensor=tensor)
    scores = kept(setting(GPT, software, layout, training), "none")["attention scores"]
    squares = microbatch * 8 / tensor * 2048**2
    assert scores == (2 + (4 if kind == "eager" else 0)) * squares


def test_stacks_with_reentrant_or_own_checkpoints_recompute_whole_layers() -> None:
    assert stack("torchtitan-2025").recompute_stops
    assert not stack("megatron-core-2025").recompute_stops


def test_a_loss_moves_what_its_stack_says_and_metrics_work_it_out_again() -> None:
    one = shape(LLAMA, Stack(loss_traffic=6, train_metrics=2))
    forward, backward = ends.head_forward(one), ends.head_backward(one)
    assert moved(forward, "loss") + moved(backward, "loss backward") == 6 * TOKENS * 1024
    assert moved(forward, "metrics") == 2 * 6 * TOKENS * 1024


def test_a_split_sequence_leaves_the_squares_whole_for_the_softmax() -> None:
    software = Stack(attention="unfused")
    one, split = (
        kept(setting(GPT, software, Parallelism(tensor=2, context=Context(size=size)), TRAINING), "none")
        for size in (1, 4)
    )
    assert split["attention scores"] == one["attention scores"] / 4 == 2 * (2 * 8 / 2) * 2048**2 / 4
