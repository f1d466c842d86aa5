"""What the kernels of a layer between its products read and write, value by value."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from stack_entries import stack

from simulator.workload import layer
from simulator.workload.blocks.head import Head
from simulator.workload.layers import blocks_of
from simulator.workload.layout import Context, Parallelism
from simulator.workload.model import Experts, Model
from simulator.workload.operations import Gemm, Program, Traffic
from simulator.workload.rank import Rank
from simulator.workload.stack import Stack, States
from simulator.workload.training import Precision, Recompute, Training

LLAMA = Model(layers=2, hidden=1024, heads=8, vocabulary=1024, ffn=4096)
GPT = replace(LLAMA, gated=False, bias="all", dropout=0.1, activation="gelu", norm="layernorm")
TRAINING = Training(sequence_length=2048, microbatch=2, global_batch=2)
TOKENS = 2 * 2048
STREAM, WIDE = TOKENS * 1024, TOKENS * 4096


def rank(
    model: Model = LLAMA,
    software: Stack | None = None,
    training: Training = TRAINING,
    layout: Parallelism | None = None,
) -> Rank:
    return Rank.of(model, software or Stack(), layout or Parallelism(), training)


def ahead(one: Rank) -> Program:
    return layer.forward(one, blocks_of(one.model, 0))


def behind(one: Rank) -> Program:
    return layer.backward(one, blocks_of(one.model, 0))


def recomputed(one: Rank, kind: Any) -> Program:
    return layer.recomputed(one, blocks_of(one.model, 0), Recompute(kind=kind))


def kept(one: Rank, kind: Any = "none") -> dict[str, float]:
    return layer.kept(one, blocks_of(one.model, 0), Recompute(kind=kind))


def moved(program: Program, name: str) -> float:
    """Bytes of the elementwise operations of this name."""
    return sum(one.work.nbytes for one in program if one.name == name and isinstance(one.work, Traffic))


def test_a_residual_reads_two_tensors_and_writes_one_both_ways() -> None:
    assert moved(ahead(rank()), "mlp residual") == 3 * 2 * STREAM
    assert moved(behind(rank()), "mlp residual backward") == 3 * 2 * STREAM


def test_dropout_writes_its_mask_beside_and_the_backward_masks_and_sums_the_bias() -> None:
    assert moved(ahead(rank(GPT)), "mlp residual") == (3 * 2 + 1) * STREAM
    assert moved(behind(rank(GPT)), "mlp residual backward") == (3 * 2 + (2 * 2 + 1) + 2) * STREAM


def test_kernel_by_kernel_dropout_and_a_bias_apart_read_and_write_once_more() -> None:
    eager = Stack(elementwise="eager")
    assert moved(ahead(rank(GPT, eager)), "mlp residual") == (3 * 2 + 2 * 2 + 1) * STREAM
    apart = replace(eager, row_bias="apart")
    assert moved(ahead(rank(GPT, apart)), "mlp residual") == (3 * 2 + 2 * 2 + 1 + 2 * 2) * STREAM
    assert moved(ahead(rank(LLAMA, apart)), "mlp residual") == 3 * 2 * STREAM


@pytest.mark.parametrize(
    ("model", "mlp", "forward", "backward"),
    [(GPT, "fused", 2, 3), (GPT, "eager", 2, 3), (LLAMA, "fused", 3, 5), (LLAMA, "eager", 5, 9)],
)
def test_an_activation_passes_over_its_width(model: Model, mlp: str, forward: int, backward: int) -> None:
    one = rank(model, Stack(mlp=mlp))
    assert moved(ahead(one), "mlp activation") == forward * 2 * WIDE
    assert moved(behind(one), "mlp activation backward") == backward * 2 * WIDE


def test_only_products_with_a_bias_sum_its_gradient() -> None:
    qkv = 3 * 1024 * TOKENS
    assert moved(behind(rank(GPT)), "qkv bias") == 2 * qkv
    assert moved(behind(rank(GPT)), "mlp up bias") == 2 * WIDE
    some = behind(rank(replace(LLAMA, bias="qkv")))
    assert moved(some, "qkv bias") == 2 * qkv
    assert moved(some, "mlp up bias") == 0
    assert moved(behind(rank()), "qkv bias") == 0


@pytest.mark.parametrize(("gradients", "width"), [("fp32", 4), ("bf16", 2)])
def test_a_gradient_added_apart_is_read_and_the_main_one_read_and_written_in_its_format(
    gradients: str, width: int
) -> None:
    training = replace(TRAINING, states=States(gradients=gradients))
    plain = behind(rank(LLAMA, Stack(gradient_accumulation_fusion=False), training))
    assert moved(plain, "mlp down accumulate") == 1024 * 4096 * (2 + 2 * width)
    assert moved(behind(rank(LLAMA, Stack(), training)), "mlp down accumulate") == 0


@pytest.mark.parametrize(
    ("scaling", "norm_casts", "nbytes"), [("delayed", False, 4), ("delayed", True, 1), ("current", True, 6)]
)
def test_a_norm_that_casts_leaves_the_transpose(scaling: str, norm_casts: bool, nbytes: int) -> None:
    training = replace(TRAINING, precision=Precision(kind="fp8", scaling=scaling))
    program = ahead(rank(LLAMA, Stack(norm_casts=norm_casts), training))
    assert moved(program, "mlp up cast") == nbytes * STREAM
    assert moved(program, "mlp down cast") == {"delayed": 4, "current": 6}[scaling] * WIDE


def test_recompute_that_stops_leaves_out_what_nothing_needs_again() -> None:
    whole, stopped = (recomputed(rank(LLAMA, Stack(recompute_stops=stops)), "full") for stops in (False, True))
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
    scores = kept(rank(GPT, software, training, layout))["attention scores"]
    squares = microbatch * 8 / tensor * 2048**2
    assert scores == (2 + (4 if kind == "eager" else 0)) * squares


def test_stacks_with_reentrant_or_own_checkpoints_recompute_whole_layers() -> None:
    assert stack("torchtitan-2025").recompute_stops
    assert not stack("megatron-core-2025").recompute_stops


def test_a_loss_moves_what_its_stack_says_and_metrics_work_it_out_again() -> None:
    one = rank(LLAMA, Stack(loss_traffic=6, train_metrics=2))
    forward, backward = layer.end(one, Head(), "forward"), layer.end(one, Head(), "backward")
    assert moved(forward, "loss") + moved(backward, "loss backward") == 6 * TOKENS * 1024
    assert moved(forward, "metrics") == 2 * 6 * TOKENS * 1024


def test_a_split_sequence_leaves_the_squares_whole_for_the_softmax() -> None:
    software = Stack(attention="unfused")
    one, split = (
        kept(rank(GPT, software, layout=Parallelism(tensor=2, context=Context(size=size)))) for size in (1, 4)
    )
    assert split["attention scores"] == one["attention scores"] / 4 == 2 * (2 * 8 / 2) * 2048**2 / 4


@pytest.mark.parametrize(("tensor", "chunks"), [(1, 8), (1, 32), (2, 8)])
def test_time_and_memory_of_a_chunked_loss_obey_one_switch(tensor: int, chunks: int) -> None:
    """A chunk of logits at a time in memory; as many products of as many rows fewer in time, the same FLOPs."""
    layout, whole = Parallelism(tensor=tensor), Stack(loss_bytes=12, loss_traffic=34)
    pieces = replace(whole, loss="chunked", loss_chunks=chunks)
    entries = TOKENS * 1024 / tensor
    peaks = [Head().peak(rank(LLAMA, one, layout=layout)) for one in (whole, pieces)]
    assert peaks[0] - peaks[1] == pytest.approx(12 * entries * (1 - 1 / chunks))
    programs = [layer.end(rank(LLAMA, one, layout=layout), Head(), "forward") for one in (whole, pieces)]
    assert [moved(program, "loss") for program in programs] == [34 / 2 * entries, 10 / 2 * entries]
    products = [next(one.work for one in program if one.name == "head") for program in programs]
    assert [one.m * one.kernels for one in products] == [TOKENS, TOKENS]
    assert [one.kernels for one in products] == [1, chunks]


@pytest.mark.parametrize(("loss", "share"), [("vocabulary-parallel", 1 / 4), ("chunked", 1 / 4), ("replicated", 1)])
def test_time_and_memory_share_the_vocabulary_alike(loss: Any, share: float) -> None:
    stack = Stack(loss=loss, loss_chunks=1, loss_traffic=8, loss_bytes=8)
    one, other = (
        rank(LLAMA, software, layout=Parallelism(tensor=4)) for software in (stack, replace(stack, loss_bytes=0))
    )
    peak, none = Head().peak(one), Head().peak(other)
    program = layer.end(one, Head(), "forward")
    assert peak - none == pytest.approx(8 * TOKENS * 1024 * share)
    assert moved(program, "loss") == 4 * TOKENS * 1024 * share


@pytest.mark.parametrize(("expert", "rows"), [(1, 0), (4, 2)])
def test_operations_that_selective_recompute_keeps_are_the_ones_it_does_not_repeat(expert: int, rows: int) -> None:
    """torchtitan's list has no grouped product: of two active experts a token, rows are kept where they were sent."""
    model = replace(LLAMA, experts=Experts(count=8, active=2, ffn=512))
    software, layout = Stack(selective="operations"), Parallelism(expert=expert)
    one, other = (rank(shape, software, layout=layout) for shape in (model, replace(model, experts=None)))
    experts, dense = kept(one, "selective"), kept(other, "selective")
    common = {name: nbytes for name, nbytes in dense.items() if not name.startswith("mlp")}
    assert experts == common | ({"exchanged rows": rows * 2 * 2 * STREAM} if rows else {})
    again = [operation.name for operation in recomputed(one, "selective") if isinstance(operation.work, Gemm)]
    assert [name for name in again if name.startswith("expert")] == ["expert up", "expert down"]
