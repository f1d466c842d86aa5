"""Matrices of a rank: what is dealt to ranks adds up, and nothing is lost on the way."""

from __future__ import annotations

from collections import Counter
from math import ceil

import pytest
from hypothesis import given
from hypothesis import strategies as st
from model_entries import model

from simulator.workload.layers import layers_of
from simulator.workload.layout import Parallelism
from simulator.workload.matrices import Matrices, Matrix, deal
from simulator.workload.parameters import layer_parts, total_parameters
from simulator.workload.rank import Rank
from simulator.workload.rank_matrices import matrices_on_rank
from simulator.workload.replica import Content
from simulator.workload.stack import Stack
from simulator.workload.training import Training

SIDES = st.integers(1, 4096)
MATRICES = st.lists(
    st.tuples(st.builds(Matrix, SIDES, SIDES, st.just(1), st.booleans()), st.integers(1, 40)),
    min_size=1,
    max_size=6,
    unique_by=lambda entry: entry[0],
).map(tuple)


def held(matrices: Matrices) -> float:
    return sum(matrix.held * count for matrix, count in matrices)


@given(MATRICES, st.integers(1, 64))
def test_every_matrix_is_dealt_to_one_rank(matrices, ranks):
    shares = deal(matrices, ranks)
    dealt: Counter[Matrix] = Counter()
    for share in shares:
        dealt.update(dict(share))
    assert dealt == Counter(dict(matrices))
    assert len(shares) == min(ranks, sum(count for _, count in matrices))


@given(MATRICES, st.integers(1, 64))
def test_the_fullest_rank_has_its_share_at_least_and_is_near_the_best(matrices, ranks):
    """Graham, 1969: largest first is within 4/3 of the best, which is no less than the mean and the largest matrix."""
    fullest = max(map(held, deal(matrices, ranks)))
    largest = max(matrix.held for matrix, _ in matrices)
    mean = held(matrices) / ranks
    second = ceil(sum(count for _, count in matrices) / ranks) * min(matrix.held for matrix, _ in matrices)
    assert fullest >= mean - 1e-6
    assert fullest <= mean + largest + 1e-6
    assert fullest >= max(largest, second) - 1e-6


def of_model(name: str, **layout: int) -> tuple[Rank, Matrices]:
    one = Rank.of(model(name), Stack(), Parallelism(**layout), Training(), data=64)
    kinds = Counter(layers_of(one.model)[: one.model.layers])
    return one, matrices_on_rank(one.inside, (Content(tuple(kinds.items()), True, False),))


@pytest.mark.parametrize("name", ["llama-3.1-8b", "gpt3-175b", "mixtral-8x7b", "deepseek-v3", "qwen3-30b-a3b"])
def test_matrices_are_all_parameters_of_the_layers_but_vectors(name):
    one, matrices = of_model(name)
    shape = one.model
    parts = [part for blocks in layers_of(shape)[: shape.layers] for part in layer_parts(shape, blocks)]
    assert held(matrices) == sum(part.size for part in parts if part.matrix)
    vectors = sum(part.size for part in parts if not part.matrix)
    assert vectors / total_parameters(shape) < 1e-3


def test_each_expert_has_matrices_of_its_own():
    whole, apart = of_model("mixtral-8x7b")[1], of_model("mixtral-8x7b", expert=4)[1]
    counts = [{matrix.experts: count for matrix, count in found if matrix.experts} for found in (whole, apart)]
    assert counts == [{True: 32 * 8 * 3}, {True: 32 * 2 * 3}]


def test_tensor_ranks_hold_pieces_whose_long_side_is_split():
    _, matrices = of_model("llama-3.1-8b", tensor=4)
    assert {(matrix.whole, matrix.split, matrix.ways) for matrix, _ in matrices} == {
        (4096, 4096, 4), (4096, 1024, 4), (4096, 14336, 4),
    }  # fmt: skip
    assert held(matrices) == held(of_model("llama-3.1-8b")[1]) / 4
