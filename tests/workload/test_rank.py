"""What one rank of a layout is, and which layouts are alike to its layers."""

from __future__ import annotations

from dataclasses import replace

import pytest

from simulator.workload import layer
from simulator.workload.layers import blocks_of
from simulator.workload.layout import Context, Parallelism, Shard
from simulator.workload.model import Model
from simulator.workload.rank import Rank
from simulator.workload.stack import Stack
from simulator.workload.training import Training

MODEL = Model(layers=4, hidden=1024, heads=16, kv_heads=4, vocabulary=1024)
TRAINING = Training(sequence_length=2048, microbatch=2)


def rank(layout: Parallelism, data: int = 1, stack: Stack | None = None) -> Rank:
    return Rank.of(MODEL, stack or Stack(), layout, TRAINING, data=data)


@pytest.mark.parametrize(("tensor", "context", "kv_heads"), [(1, 1, 4), (4, 1, 1), (8, 2, 1)])
def test_a_rank_has_its_part_of_tokens_and_heads(tensor: int, context: int, kv_heads: int) -> None:
    one = rank(Parallelism(tensor=tensor, context=Context(size=context), sequence=True))
    assert (one.tokens, one.heads, one.kv_heads) == (2 * 2048 // context, 16 // tensor, kv_heads)
    assert one.scattered == one.tokens / tensor
    assert one.stream == 2 * 1024 * one.tokens / tensor == one.gathered_bytes / tensor


def test_layers_that_do_the_same_are_priced_once_whatever_the_other_axes() -> None:
    one = rank(Parallelism(tensor=2))
    other = rank(Parallelism(tensor=2, pipeline=4, shard=Shard(level="optimizer")), data=8)
    assert one != other
    assert one.inside == other.inside
    assert layer.forward(one.inside, blocks_of(MODEL, 0)) is layer.forward(other.inside, blocks_of(MODEL, 3))


def test_gradients_reduced_every_microbatch_are_no_other_layer_unless_they_are_kept_whole() -> None:
    whole = Parallelism(pipeline=2, shard=Shard(level="parameters"))
    assert rank(whole).inside.reduced
    assert not rank(whole, stack=Stack(keep_unsharded=True)).inside.reduced


def test_gradients_alone_are_gathered_by_layer_with_fsdp_and_not_with_zero_2() -> None:
    """FSDP gathers for every microbatch and keeps it for the backward; ZeRO-2 gathers after the update."""
    layout = Parallelism(shard=Shard(level="gradients"))
    fsdp, zero = (Stack(shard="parameters", gathers_from=level) for level in ("gradients", "parameters"))
    assert rank(layout, stack=fsdp).layer_by_layer
    assert rank(layout, stack=fsdp).gathers == 1
    assert not rank(layout, stack=zero).layer_by_layer
    both = Parallelism(shard=Shard(level="parameters"))
    assert rank(both, stack=fsdp).gathers == rank(both, stack=zero).gathers == 2


def test_equal_ranks_are_one_key_of_a_cache() -> None:
    one, other = rank(Parallelism()), rank(Parallelism())
    assert one is not other
    assert len({one, other, replace(one, stack=Stack(norm="eager")), replace(one, data=2)}) == 3
