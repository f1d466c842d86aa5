"""What a compiler has gathered at a time: matrices of a layer, not layers."""

from __future__ import annotations

from dataclasses import replace

import pytest
from test_memory_peak import GPT, PLAIN, memory

LAYERS = replace(PLAIN, gather_unit="layer", gradient_reduce="bf16")
MATRICES = replace(LAYERS, gather_unit="matrix")


def buffers(stack, level: str) -> float:
    return memory(GPT, stack, data=8, shard=level).stages[0]["buffers_bytes"]


def test_two_matrices_and_a_gradient_are_there_at_a_time():
    matrix = GPT.hidden * 4 * GPT.hidden
    assert buffers(MATRICES, "parameters") == pytest.approx((2 + 1 + 1) * 2 * matrix)


def test_a_table_may_be_the_largest_matrix():
    wide = replace(GPT, vocabulary=131072)
    found = memory(wide, MATRICES, data=8, shard="parameters").stages[0]["buffers_bytes"]
    assert found == pytest.approx((2 + 1 + 1) * 2 * 131072 * GPT.hidden)


@pytest.mark.parametrize("level", ["none", "optimizer", "gradients", "parameters"])
def test_matrices_never_need_more_than_layers(level):
    assert buffers(MATRICES, level) <= buffers(LAYERS, level)
