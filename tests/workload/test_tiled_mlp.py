"""An MLP in tiles of tokens: memory of one tile, whatever the sequence, for a second forward."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from model_entries import model
from test_memory_peak import memory

from simulator.workload import layer
from simulator.workload.layers import blocks_of
from simulator.workload.layout import Parallelism
from simulator.workload.model import Model
from simulator.workload.operations import Gemm, Program
from simulator.workload.rank import Rank
from simulator.workload.stack import Stack
from simulator.workload.training import Recompute, Training

WIDE = Model(layers=4, hidden=256, heads=4, ffn=8192, vocabulary=512)
WHOLE = Stack(attention="flash-2")
FULL = Recompute(kind="full")


def rank(tile: int | None, tokens: int = 8192) -> Rank:
    software = replace(WHOLE, mlp_tile=tile)
    return Rank.of(WIDE, software, Parallelism(), Training(sequence_length=tokens, states=software.states))


def products(program: Program, name: str) -> list[Gemm]:
    return [one.work for one in program if one.name == name and isinstance(one.work, Gemm)]


def flops(program: Program) -> float:
    works = [one.work for one in program]
    return sum(2 * one.m * one.n * one.k * one.groups * one.kernels for one in works if isinstance(one, Gemm))


def test_a_tiled_mlp_keeps_its_input_only():
    blocks = blocks_of(WIDE, 0)
    whole, tiled = layer.kept(rank(None), blocks), layer.kept(rank(1024), blocks)
    assert set(whole) - set(tiled) == {"mlp inner", "mlp activation"}
    assert tiled == {name: nbytes for name, nbytes in whole.items() if not name.startswith("mlp")}


def test_tiles_do_the_work_of_the_whole_and_the_forward_twice():
    blocks = blocks_of(WIDE, 0)
    forward, tiled = (layer.forward(rank(tile), blocks) for tile in (None, 1024))
    assert flops(tiled) == flops(forward)
    (up,) = products(tiled, "mlp up")
    assert (up.m, up.kernels) == (1024, 8)
    back, again = (layer.backward(rank(tile), blocks) for tile in (None, 1024))
    mlp = sum(flops(tuple(one for one in forward if one.name == name)) for name in ("mlp up", "mlp down"))
    assert flops(again) == flops(back) + mlp
    assert {one.name for one in again if one.recompute} >= {"mlp up", "mlp down"}


def test_a_sequence_of_one_tile_is_not_cut():
    blocks = blocks_of(WIDE, 0)
    assert layer.forward(rank(8192), blocks) == layer.forward(rank(None), blocks)
    assert layer.kept(rank(8192), blocks) == layer.kept(rank(None), blocks)


@pytest.mark.parametrize("recompute", [Recompute(), FULL, Recompute(kind="selective")])
@settings(max_examples=25, deadline=None)
@given(tiles=st.lists(st.integers(64, 16384), min_size=2, unique=True), operations=st.booleans())
def test_smaller_tiles_never_need_more(recompute, tiles, operations):
    software = replace(WHOLE, selective="operations" if operations else "attention")
    peaks = [
        memory(WIDE, replace(software, mlp_tile=tile), sequence_length=8192, recompute=recompute).peak_bytes
        for tile in (None, *sorted(tiles, reverse=True))
    ]
    assert all(before >= after for before, after in pairwise(peaks))


def test_what_a_layer_works_with_stops_growing_with_the_sequence():
    """Beyond the stream of each token, the backward of a layer needs the inner values of one tile."""
    blocks = blocks_of(WIDE, 0)
    short, long = (layer.gradients(one, blocks) - one.stream for one in (rank(4096, 65536), rank(4096, 262144)))
    assert short == long > 0


def test_selective_recompute_does_a_tiled_mlp_again_whole():
    """The autograd function of the tiles hides their products from the list of operations."""
    tiled = replace(rank(1024), stack=replace(WHOLE, selective="operations", mlp_tile=1024))
    blocks, kind = blocks_of(WIDE, 0), Recompute(kind="selective")
    assert not [name for name in layer.kept(tiled, blocks, kind) if name.startswith("mlp")]
    assert {"mlp up", "mlp down"} <= {one.name for one in layer.recomputed(tiled, blocks, kind)}


def test_8b_at_half_a_million_tokens():
    """ALST, arXiv 2506.13996: without tiles the MLP of one layer alone is tens of GiB at 500,000 tokens."""
    size = {"sequence_length": 500_000, "microbatches": 1, "recompute": FULL}
    shape = model("llama-3.1-8b")
    whole, tiled = (
        memory(shape, replace(WHOLE, loss="chunked", loss_chunk_tokens=4096, mlp_tile=tile), **size)
        for tile in (None, shape.hidden)
    )
    saved = whole.stages[0]["activations_bytes"] - tiled.stages[0]["activations_bytes"]
    assert saved > 3 * 2 * shape.ffn * 500_000
