"""What Muon does to matrices: the FLOPs of its iterations, who does them, and what is sent for them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.workload.layout import Parallelism, Shard
from simulator.workload.matrices import Matrices, Matrix, Owners
from simulator.workload.model import Model
from simulator.workload.operations import Exchange, Gemm
from simulator.workload.optimizers.muon import SHARINGS, Muon, flops, most
from simulator.workload.rank import Rank
from simulator.workload.rank_matrices import owners
from simulator.workload.stack import Stack
from simulator.workload.training import Precision, Training

SHAPE = Model(layers=4, hidden=1024, heads=8, vocabulary=1024)
SIDES = st.integers(16, 8192)
ENTRIES = st.tuples(st.builds(Matrix, SIDES, SIDES, st.just(1), st.booleans()), st.integers(1, 30))
MATRICES = st.lists(ENTRIES, min_size=1, max_size=5, unique_by=lambda entry: entry[0]).map(tuple)


def among(level: str = "optimizer", data: int = 8, precision: str = "bf16", **stack: Any) -> Owners:
    """Return whom a rank shares its matrices with."""
    layout = Parallelism(shard=Shard(level=level))  # type: ignore[arg-type]
    training = Training(precision=Precision(kind=precision))  # type: ignore[arg-type]
    return owners(Rank.of(SHAPE, replace(Stack(), **stack), layout, training, data=data))


def closed_form(m: int, n: int) -> float:
    """5 (4 m^2 n + 2 m^3), for the shorter side m."""
    m, n = min(m, n), max(m, n)
    return 5 * (4 * m * m * n + 2 * m**3)


def products(ranks: Owners, matrices: Matrices) -> float:
    works = Muon().on_matrices(matrices, ranks).work
    return sum(2 * one.m * one.n * one.k * one.kernels for one in works if isinstance(one, Gemm))


def exchanges(ranks: Owners, matrices: Matrices) -> list[Exchange]:
    return [one for one in Muon().on_matrices(matrices, ranks).work if isinstance(one, Exchange)]


@given(MATRICES)
def test_its_work_is_the_sum_over_matrices(matrices):
    expected = sum(closed_form(matrix.whole, matrix.split) * count for matrix, count in matrices)
    assert products(among("none"), matrices) == pytest.approx(expected)
    assert flops(matrices, among()) == pytest.approx(expected)


def test_a_70b_takes_as_many_flops_as_counted_by_hand():
    """80 layers: 2 of 8192 x 8192, 2 of 8192 x 1024, 3 of 8192 x 28672."""
    layer = 2 * closed_form(8192, 8192) + 2 * closed_form(1024, 8192) + 3 * closed_form(8192, 28672)
    matrices = tuple((Matrix(8192, side, 1, False), 80 * count) for side, count in ((8192, 2), (1024, 2), (28672, 3)))
    assert products(among("none"), matrices) == pytest.approx(80 * layer)
    assert products(among("none"), matrices) == pytest.approx(1.32e16, rel=0.01)


@given(MATRICES, st.integers(1, 64), st.sampled_from(sorted(SHARINGS)))
def test_the_slowest_rank_does_its_share_at_least_and_everything_at_most(matrices, data, sharing):
    one = among(data=data, muon_data=sharing)
    total = flops(matrices, one)
    assert total / data * (1 - 1e-9) <= products(one, matrices) <= total * (1 + 1e-9)


@given(MATRICES)
def test_on_one_rank_all_ways_of_sharing_are_the_same(matrices):
    works = {Muon().on_matrices(matrices, among(data=1, muon_data=sharing)) for sharing in SHARINGS}
    assert len(works) == 1
    assert not exchanges(among(data=1), matrices)


@given(MATRICES, st.integers(2, 64))
def test_repeating_is_what_one_rank_alone_would_do_and_dealing_never_more(matrices, data):
    repeated, dealt = (
        among(data=data, muon_data="repeated"),
        among(data=data, muon_data="owned"),
    )
    assert products(repeated, matrices) == pytest.approx(products(among(data=1), matrices))
    assert products(dealt, matrices) <= products(repeated, matrices) * (1 + 1e-9)
    assert flops(most(matrices, dealt, data), dealt) <= flops(matrices, dealt) * (1 + 1e-9)


def test_what_is_sent_over_the_data_axis_follows_who_has_the_weights():
    matrices: Matrices = ((Matrix(64, 256, 1, False), 16),)
    nbytes = 64 * 256 * 2
    sent = {
        (level, sharing): [(one.operation, one.nbytes) for one in exchanges(among(level, muon_data=sharing), matrices)]
        for level in ("optimizer", "parameters")
        for sharing in SHARINGS
    }
    assert sent["optimizer", "owned"] == []
    assert sent["optimizer", "exchanged"] == 2 * [("all_to_all", nbytes)]
    assert sent["optimizer", "gathered"] == 16 * [("all_gather", nbytes)]
    assert sent["optimizer", "repeated"] == 16 * [("all_gather", nbytes)]
    # Sharded weights have no owner of whole matrices, and the updates go back.
    assert sent["parameters", "owned"] == sent["parameters", "exchanged"] == 4 * [("all_to_all", nbytes)]
    assert sent["parameters", "gathered"] == 32 * [("all_gather", nbytes)]
    assert sent["parameters", "repeated"] == 16 * [("all_gather", nbytes)]


@pytest.mark.parametrize("experts, axis", [(False, "tensor"), (True, "expert_tensor")])
def test_tensor_ranks_send_what_their_way_needs(experts, axis):
    matrices: Matrices = ((Matrix(64, 256, 4, experts), 1),)
    ways = {way: exchanges(among("none", muon_tensor=way), matrices) for way in ("blocks", "reduced", "repeated")}
    assert ways["blocks"] == []
    assert ways["reduced"] == 5 * [Exchange(axis, "all_reduce", 64 * 64 * 2)]
    assert ways["repeated"] == [Exchange(axis, "all_gather", 64 * 256 * 4)]


@given(st.integers(1, 64), st.integers(1, 64), st.sampled_from([2, 4, 8]))
def test_tensor_ranks_that_repeat_do_the_whole_and_blocks_the_least(whole, columns, ways):
    """Reduced: the long products are shared and the short one is not. Blocks: all sides are those of the piece."""
    matrices: Matrices = ((Matrix(16 * whole, 16 * columns * ways, ways, False), 1),)
    done = {way: products(among("none", muon_tensor=way), matrices) for way in ("blocks", "reduced", "repeated")}
    assert done["repeated"] == pytest.approx(closed_form(16 * whole, 16 * columns * ways))
    assert done["blocks"] == pytest.approx(closed_form(16 * whole, 16 * columns))
    side, piece = 16 * whole, 16 * columns
    assert done["reduced"] == pytest.approx(5 * (4 * side * side * piece + 2 * side**3))
    assert done["blocks"] <= min(done["reduced"], done["repeated"]) * (1 + 1e-9)


@pytest.mark.parametrize("precision, dtype", [("bf16", "bf16"), ("fp8", "bf16"), ("fp32", "bf16"), ("fp16", "fp16")])
def test_products_are_made_in_sixteen_bits(precision, dtype):
    works = Muon().on_matrices(((Matrix(64, 256, 1, False), 1),), among("none", precision=precision)).work
    assert {one.dtype for one in works if isinstance(one, Gemm)} == {dtype}
