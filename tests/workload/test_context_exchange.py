"""Attention over a sequence split over ranks: the same work in other pieces, and what is passed on."""

from __future__ import annotations

from dataclasses import replace

import pytest

from simulator.errors import ScenarioError
from simulator.machine.kernels import attention
from simulator.scenario import from_dict
from simulator.workload import layer
from simulator.workload.layers import blocks_of
from simulator.workload.operations import Core, Exchange, Traffic
from simulator.workload.rank import Rank

SEQUENCE = 32768


def program(context, kind="ring", *, tensor=1, backward=False, **stack):
    case = from_dict(
        {
            "version": 1,
            "model": "llama-3-8b",
            "cluster": {"host": "dgx-h100", "hosts": 1},
            "stack": "megatron-core-2025",
            "parallelism": {"tensor": tensor, "context": {"size": context, "kind": kind}},
            "training": {"tokens": "1B", "sequence_length": SEQUENCE, "global_batch": 8, "microbatch": 1},
        }
    )
    rank = Rank.of(case.model, replace(case.stack, **stack), case.parallelism, case.training)
    return (layer.backward if backward else layer.forward)(rank, blocks_of(case.model, 0))


def cores(found):
    return [operation for operation in found if isinstance(operation.work, Core)]


def flops(operation):
    core = operation.work
    fields = ("batch", "heads", "queries", "keys", "head_size", "value_size", "causal", "window", "backward")
    return operation.share * attention.flops(**{name: getattr(core, name) for name in fields})


def sent(found):
    return sum(one.work.nbytes for one in found if isinstance(one.work, Exchange) and one.work.axis == "context")


@pytest.mark.parametrize("backward", [False, True])
@pytest.mark.parametrize("context", [2, 4, 8])
@pytest.mark.parametrize("kind", ["ring", "all-gather", "ulysses"])
def test_each_rank_does_its_part_of_the_attention(kind, context, backward):
    whole = sum(map(flops, cores(program(1, backward=backward))))
    assert sum(map(flops, cores(program(context, kind, backward=backward)))) == pytest.approx(whole / context)


@pytest.mark.parametrize("context", [2, 4, 8])
def test_a_ring_runs_a_kernel_for_the_keys_of_each_rank(context):
    own, *others = cores(program(context))
    queries = SEQUENCE // context
    assert (own.work.queries, own.work.keys, own.work.causal) == (queries, queries, True)
    assert sum(one.share for one in others) == context - 1
    assert {(one.work.queries, one.work.keys, one.work.causal) for one in others} == {(queries, queries // 2, False)}


def test_what_others_found_is_merged_into_the_context():
    merges = [one for one in program(4) if isinstance(one.work, Traffic) and "merge" in one.name]
    values = SEQUENCE // 4 * 32 * 128
    assert sum(one.share * one.work.nbytes for one in merges) == 3 * 3 * 0.75 * values * 2


@pytest.mark.parametrize("backward", [False, True])
def test_a_ring_passes_keys_and_values_on_and_backward_their_gradients_too(backward):
    row = 2 * 8 * 128 * 2  # keys and values of eight heads of 128 in two bytes
    assert sent(program(4, backward=backward)) == (2 if backward else 1) * 3 * SEQUENCE // 4 * row


@pytest.mark.parametrize("kind", ["ring", "all-gather"])
def test_keys_copied_to_every_query_head_travel_as_copies(kind):
    assert sent(program(4, kind, repeats_keys=True)) == pytest.approx(4 * sent(program(4, kind)))


@pytest.mark.parametrize("backward", [False, True])
def test_a_merge_in_fp32_kernel_by_kernel_moves_six_times_as_much(backward):
    found = program(4, backward=backward, context_merge="eager")
    traffic = {one.name: 0.0 for one in found if isinstance(one.work, Traffic)}
    for one in found:
        if one.name in traffic:
            traffic[one.name] += one.share * one.work.nbytes
    queries, keys = SEQUENCE // 4 * 32 * 128, SEQUENCE // 4 * 8 * (128 + 128)
    if backward:
        assert traffic["attention backward merge"] == 3 * 0.75 * ((4 + 2 + 4) * queries + (4 + 2 + 4 + 8) * keys)
        assert traffic["attention backward casts"] == (4 + 4 + 2) * queries + (4 + 2) * keys
    else:
        assert traffic["attention merge"] == 3 * 0.75 * (2 + 4 + 12 + 8 + 12) * queries
        assert traffic["attention casts"] == (2 + 4 + 4 + 2) * queries


@pytest.mark.parametrize(("size", "message"), [(2, ""), (8, ""), (40, ""), (16, "40 heads"), (10, "8 key and value")])
def test_ulysses_deals_whole_heads_or_copies_of_key_heads(size: int, message: str) -> None:
    """40 heads and 8 key heads (Qwen2.5-14B): 8 divides both, 40 copies key heads fivefold (verl issue 1226)."""
    plain = {
        "version": "1",
        "name": "ulysses",
        "model": {"layers": 2, "hidden": 5120, "heads": 40, "kv_heads": 8, "vocabulary": 1024},
        "cluster": {"host": "hgx-h100", "hosts": 2 * size},
        "parallelism": {"context": {"size": size, "kind": "ulysses"}},
        "training": {"steps": 1, "sequence_length": 5120, "global_batch": 16},
    }
    if not message:
        assert from_dict(plain).parallelism.context.size == size
        return
    with pytest.raises(ScenarioError, match=f"ulysses deals {message}"):
        from_dict(plain)
