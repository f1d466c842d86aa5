"""A capacity of experts: rows, exchanges and memory are padded to it, and what is over it is dropped."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator import scenario
from simulator.simulation import predict, simulate
from simulator.workload import capacity, layer
from simulator.workload.capacity import Moe
from simulator.workload.layer import kept
from simulator.workload.layers import blocks_of
from simulator.workload.layout import Parallelism
from simulator.workload.model import Experts, Model
from simulator.workload.operations import Exchange, Gemm
from simulator.workload.rank import Rank
from simulator.workload.stack import Stack
from simulator.workload.training import Training

EXPERTS = Experts(count=64, active=8, ffn=1024)
MODEL = Model(layers=2, hidden=2048, heads=16, vocabulary=1024, experts=EXPERTS)
LAYOUT = Parallelism(expert=8)
TRAINING = Training(sequence_length=4096)
BLOCKS = blocks_of(MODEL, 0)


def rank(**moe: float) -> Rank:
    return Rank.of(MODEL, Stack(), LAYOUT, TRAINING, moe=Moe(**moe))


def test_an_expert_has_capacity_times_the_mean_rows_rounded_up() -> None:
    assert capacity.rows(EXPERTS, 4096, None) == 4096 * 8
    assert capacity.rows(EXPERTS, 4096, 1.25) == 1.25 * 4096 * 8
    assert capacity.rows(EXPERTS, 100, 1.0) == 64 * 13


def work(one: Rank, name: str) -> Gemm | Exchange:
    (found,) = (operation.work for operation in layer.forward(one, BLOCKS) if operation.name == name)
    assert isinstance(found, Gemm | Exchange)
    return found


def test_products_and_exchanges_are_padded_to_the_capacity_whatever_the_imbalance() -> None:
    balanced, crowded = rank(), rank(imbalance=2.0)
    padded, both = rank(capacity=1.5), rank(capacity=1.5, imbalance=2.0)
    for name, size in (("expert up", "m"), ("dispatch", "nbytes")):
        mean = getattr(work(balanced, name), size)
        assert getattr(work(padded, name), size) == getattr(work(both, name), size) == 1.5 * mean
        assert getattr(work(crowded, name), size) == 2 * mean


def test_the_fullest_rank_keeps_what_it_receives() -> None:
    even, crowded = kept(rank(), BLOCKS), kept(rank(imbalance=2.0), BLOCKS)
    for name, nbytes in even.items():
        assert crowded[name] == pytest.approx(nbytes * (2 if name.startswith("expert") else 1))


def test_what_experts_keep_is_padded_too() -> None:
    free, padded = kept(rank(), BLOCKS), kept(rank(capacity=1.5), BLOCKS)
    for name, nbytes in free.items():
        assert padded[name] == pytest.approx(nbytes * (1.5 if name.startswith("expert") else 1))


@pytest.mark.parametrize(
    "imbalance, size, share",
    [(1, 1, 0), (1, 0.75, 0.25), (2, 1, 0.25), (2, 2, 0), (2, 1.5, 0.0625), (1.5, None, 0)],
)
def test_what_is_over_the_capacity_is_dropped(imbalance: float, size: float | None, share: float) -> None:
    """Loads evenly spread from 0 to 2 drop (2 - c)^2 / 4."""
    assert capacity.dropped(imbalance, size) == pytest.approx(share)


@given(imbalance=st.floats(1.001, 50), low=st.floats(0.01, 60), more=st.floats(0, 10))
def test_a_larger_capacity_never_drops_more(imbalance: float, low: float, more: float) -> None:
    first, second = capacity.dropped(imbalance, low), capacity.dropped(imbalance, low + more)
    assert 0 <= second <= first + 1e-12 <= 1
    assert first >= 1 - low - 1e-9


def mixture(**moe: str) -> scenario.Scenario:
    return scenario.from_dict(
        {
            "version": "1",
            "name": "experts",
            "model": "mixtral-8x7b",
            "cluster": {"host": "dgx-h100", "hosts": "2"},
            "stack": "megatron-bridge-2025",
            "parallelism": {"expert": "8"},
            "training": {"steps": "10", "sequence_length": "4096", "global_batch": "64"},
            "moe": moe,
        }
    )


def test_a_step_pays_for_its_capacity_and_not_for_the_imbalance() -> None:
    said = ({}, {"capacity": "1"}, {"capacity": "1.5"}, {"capacity": "1.5", "imbalance": "1.5"})
    even, exact, padded, crowded = (predict(mixture(**moe)).step_time_s for moe in said)
    assert exact <= even < padded == crowded < 1.5 * even


def test_a_capacity_says_what_it_drops_and_needs_memory_between_the_mean_and_the_fullest_rank() -> None:
    free, padded = mixture(imbalance="2"), mixture(imbalance="2", capacity="1.5")
    shares = [simulate(one).step.dropped_tokens for one in (free, padded)]
    assert shares == [0.0, pytest.approx(0.0625)]
    even, bounded, full = (predict(one).memory.peak_bytes for one in (mixture(), padded, free))
    assert bounded == pytest.approx((even + full) / 2)  # 1.5 times the mean, between 1 and 2 times
