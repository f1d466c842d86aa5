"""Recompute of modules by name: what is kept less is done again, never both and never neither."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_memory_peak import memory

from simulator.workload import layer
from simulator.workload.blocks.base import Blocks
from simulator.workload.blocks.latent import Latent
from simulator.workload.layers import blocks_of
from simulator.workload.layout import Parallelism
from simulator.workload.model import Experts, Model
from simulator.workload.operations import Exchange, Gemm, Traffic
from simulator.workload.rank import Rank
from simulator.workload.stack import Stack
from simulator.workload.training import Module, Recompute, Training

MODULES: tuple[Any, ...] = get_args(Module)
MODEL = Model(
    layers=4,
    hidden=1024,
    heads=8,
    ffn=4096,
    vocabulary=1024,
    attention=Latent(q_rank=256, kv_rank=128, rope_size=32, nope_size=64, value_size=64),
    experts=Experts(count=8, active=2, ffn=512, shared=1, dense_layers=1),
)
STACK = Stack(attention="unfused", norm="eager")
DENSE, SPARSE = (blocks_of(MODEL, place) for place in (0, 1))
EXPERTS = ("router", "expert inputs", "expert inner", "expert activation")
SHARED = ("shared expert inner", "shared expert activation")


def rank(layout: Parallelism | None = None) -> Rank:
    return Rank.of(MODEL, STACK, layout or Parallelism(), Training(sequence_length=512, states=STACK.states))


def of(*modules: Module) -> Recompute:
    return Recompute(kind="selective", modules=modules)


def gone(blocks: Blocks, *modules: Module) -> set[str]:
    one = rank()
    return set(layer.kept(one, blocks)) - set(layer.kept(one, blocks, of(*modules)))


def again(blocks: Blocks, *modules: Module) -> list[str]:
    return [one.name for one in layer.recomputed(rank(), blocks, of(*modules))]


@pytest.mark.parametrize(
    ("blocks", "module", "terms"),
    [
        (DENSE, "layernorm", {"norm outputs", "norm copies"}),
        (DENSE, "mlp", {"mlp inner", "mlp activation"}),
        (SPARSE, "mlp", set()),
        (SPARSE, "moe", {*EXPERTS, *SHARED}),
        (SPARSE, "moe_activation", {"expert activation"}),
        (SPARSE, "shared_experts", set(SHARED)),
        (DENSE, "moe", set()),
    ],
)
def test_each_module_gives_back_its_own_terms(blocks: Blocks, module: Module, terms: set[str]) -> None:
    assert gone(blocks, module) == terms
    assert bool(again(blocks, module)) == bool(terms)


def test_the_whole_of_an_expert_layer_is_done_again_once() -> None:
    """Router, dispatch, products and combine; parts that are named beside it are in it."""
    one = rank(Parallelism(expert=4))
    program = layer.recomputed(one, SPARSE, of("moe"))
    assert [work.name for work in program if isinstance(work.work, Exchange)] == ["dispatch", "combine"]
    names = [work.name for work in program]
    assert {"router", "expert up", "expert down", "shared expert up"} <= set(names)
    assert layer.recomputed(one, SPARSE, of("moe", "moe_activation", "shared_experts")) == program


def test_norms_are_done_again_ahead_of_each_block() -> None:
    assert again(DENSE, "layernorm") == ["attention norm", "mlp norm"]


def cost(blocks: Blocks, modules: tuple[Module, ...]) -> tuple[float, float]:
    """Return FLOPs and bytes of what is computed again."""
    works = [one.work for one in layer.recomputed(rank(), blocks, of(*modules))]
    flops = sum(2 * one.m * one.n * one.k * one.groups * one.kernels for one in works if isinstance(one, Gemm))
    return flops, sum(one.nbytes for one in works if isinstance(one, Traffic))


@settings(max_examples=60, deadline=None)
@given(modules=st.lists(st.sampled_from(MODULES), min_size=1, unique=True), more=st.sampled_from(MODULES))
def test_a_policy_that_keeps_less_needs_no_more_memory_and_no_less_time(modules: list[Module], more: Module) -> None:
    few, many = tuple(modules), tuple(dict.fromkeys((*modules, more)))
    for blocks in (DENSE, SPARSE):
        assert layer.kept_bytes(rank(), blocks, of(*many)) <= layer.kept_bytes(rank(), blocks, of(*few))
        assert all(after >= before for before, after in zip(cost(blocks, few), cost(blocks, many), strict=True))
    peaks = [memory(MODEL, STACK, sequence_length=512, recompute=of(*wanted)).peak_bytes for wanted in (few, many)]
    assert peaks[1] <= peaks[0]


def test_all_kinds_lie_between_nothing_and_whole_layers() -> None:
    every = [memory(MODEL, STACK, recompute=one).peak_bytes for one in (Recompute(), of(*MODULES))]
    whole = memory(MODEL, replace(STACK), recompute=Recompute(kind="full")).peak_bytes
    assert every[0] > every[1] > whole
