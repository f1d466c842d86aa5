"""A loss in chunks: memory of one chunk, whatever the sequence; as many products as chunks."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_memory_peak import GPT, PLAIN, memory

from simulator.workload import layer
from simulator.workload.blocks.head import Head
from simulator.workload.layout import Parallelism
from simulator.workload.rank import Rank
from simulator.workload.stack import Stack
from simulator.workload.training import Training

CHUNKED = replace(PLAIN, loss="chunked")
WIDE = replace(GPT, vocabulary=131072)


def rank(stack: Stack, tokens: int) -> Rank:
    return Rank.of(WIDE, stack, Parallelism(), Training(sequence_length=tokens, states=stack.states))


def logits(stack: Stack, tokens: int) -> float:
    """Return the peak of the loss beyond hidden states, which do grow with the sequence."""
    return Head().peak(rank(stack, tokens)) - Head().peak(rank(replace(stack, loss_bytes=0.0), tokens))


def test_chunked_is_less_than_whole():
    assert memory(WIDE, CHUNKED).stages[0]["logits_bytes"] < memory(WIDE, PLAIN).stages[0]["logits_bytes"] / 4


@pytest.mark.parametrize("tokens", [8192, 65536, 1048576])
def test_a_chunk_of_tokens_does_not_grow_with_the_sequence(tokens):
    assert logits(replace(CHUNKED, loss_chunk_tokens=4096), tokens) == 10 * 4096 * 131072


@settings(max_examples=60, deadline=None)
@given(tokens=st.sampled_from([128, 1000, 4096, 100_000]), counts=st.lists(st.integers(1, 4096), min_size=2))
def test_more_chunks_never_need_more(tokens, counts):
    by_count = [logits(replace(CHUNKED, loss_chunks=count), tokens) for count in sorted(counts)]
    by_size = [logits(replace(CHUNKED, loss_chunk_tokens=size), tokens) for size in sorted(counts, reverse=True)]
    for peaks in (by_count, by_size):
        assert all(before >= after for before, after in pairwise(peaks))


@pytest.mark.parametrize(("tokens", "pieces"), [(100, 1), (1024, 1), (1025, 2), (8192, 8)])
def test_products_are_as_many_as_chunks_and_do_the_same(tokens, pieces):
    head = next(
        one.work
        for one in layer.end(rank(replace(CHUNKED, loss_chunk_tokens=1024), tokens), Head(), "forward")
        if one.name == "head"
    )
    assert head.kernels == pieces
    assert head.m * head.kernels == tokens
