"""Compute beside transfers: what these take, and what an operation needs."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator import catalog
from simulator.engine.prices.assembly import assembly
from simulator.engine.prices.constants import Shared
from simulator.engine.step.contention import MOST_TAKEN, NONE, Taken, pace, together
from simulator.engine.step.pieces import COMPUTE
from simulator.machine.hardware import gpu
from simulator.machine.kernels import attention, gemm
from simulator.scenario import from_dict
from simulator.workload.layers import blocks_of
from simulator.workload.operations import Exchange, Gemm, Traffic

SHARES = st.floats(0.0, 1.0)
TAKEN = st.builds(Taken, SHARES, SHARES)


def test_each_kind_of_work_loses_what_it_needs():
    taken = Taken(sms=0.2, memory=0.5)
    assert pace(taken, 0.0) == pytest.approx(0.8)
    assert pace(taken, 1.0) == pytest.approx(0.5)
    assert 1 / pace(taken, 0.25) == pytest.approx(0.75 / 0.8 + 0.25 / 0.5)
    assert pace(NONE, 0.3) == 1.0


@given(st.lists(TAKEN, max_size=4), TAKEN, SHARES)
def test_one_more_transfer_never_helps_and_compute_never_stops(those, more, memory):
    before, after = (pace(together(taken), memory) for taken in (those, [*those, more]))
    assert (1 - MOST_TAKEN) * (1 - 1e-12) <= after <= before * (1 + 1e-12) <= 1 + 1e-9


@given(TAKEN, SHARES, SHARES)
def test_work_of_two_mixes_takes_as_long_as_work_of_their_mean(taken, one, other):
    taken = together([taken])
    times = [1 / pace(taken, memory) for memory in (one, (one + other) / 2, other)]
    assert times[1] == pytest.approx((times[0] + times[2]) / 2)


@pytest.mark.parametrize(("m", "n", "k"), [(8192, 8192, 8192), (8192, 1024, 256), (16, 8192, 8192), (1, 4096, 4096)])
def test_the_share_of_a_product_is_how_its_time_grows_with_slower_memory(m, n, k):
    """The elasticity of its time, by a difference."""
    chip = gpu("h100-sxm-80gb")
    slower = replace(chip, memory_bandwidth=chip.memory_bandwidth / 1.001)
    before, after = (gemm.time(one, m, n, k) for one in (chip, slower))
    share = gemm.bound_by_memory(chip, m, n, k)
    if before > chip.kernels.gemm.issue:
        own = before - gemm.of_format(chip, "bf16").start
        assert (after - before) / own / 0.001 == pytest.approx(share, rel=0.01, abs=1e-4)


def test_large_products_and_fused_attention_compute_where_passes_over_scores_move_bytes():
    chip = gpu("h100-sxm-80gb")
    assert gemm.bound_by_memory(chip, 8192, 8192, 8192) < 0.1
    assert gemm.bound_by_memory(chip, 1, 8192, 8192) > 0.9
    shape = {"batch": 1, "heads": 32, "queries": 4096, "keys": 4096, "head_size": 128}
    assert attention.bound_by_memory(chip, **shape, kernel="flash-2") == 0.0
    assert 0.4 < attention.bound_by_memory(chip, **shape, kernel="unfused") < 1.0


def priced(host="hgx-h100", stack="torchtitan-2025", **parallelism):
    cluster = {"host": host, "hosts": 2 if host.startswith("gb") else 1}
    return assembly(
        from_dict(
            {
                "version": 1,
                "model": "llama-3.1-8b",
                "cluster": cluster,
                "stack": stack,
                "parallelism": {"shard": "parameters", **parallelism},
                "training": {"tokens": "1B", "sequence_length": 8192, "global_batch": 72, "microbatch": 1},
            }
        ),
        Shared(),
    )


def test_one_rule_holds_for_exchanges_of_all_axes():
    """The same bytes in the same time take the same, whichever axis sends them."""
    prices = priced(tensor=4).durations
    alike = prices.over({**prices.channels, "shard": prices.channels["tensor"]})
    tensor, shard = (alike.taken(Exchange(axis, "all_gather", 2e8)) for axis in ("tensor", "shard"))
    assert tensor == shard
    assert tensor.memory > 0.2


def test_an_axis_of_one_rank_takes_nothing():
    assert priced(tensor=8).durations.taken(Exchange("shard", "all_gather", 1e9)) == NONE


def test_work_is_told_apart_by_what_binds_it():
    prices = priced().durations
    assert prices.bound_by_memory(Traffic(1e9)) == 1.0
    assert prices.bound_by_memory(Gemm(8192, 8192, 8192)) < 0.1


NVLINK = [name for name in catalog.names("host") if name.startswith(("hgx", "dgx-a", "dgx-h", "dgx-b", "gb"))]


@pytest.mark.parametrize("stack", ["torchtitan-2025", "llm-foundry-2023", "fsdp-2023"])
@pytest.mark.parametrize("host", NVLINK)
def test_layers_beside_gathers_inside_a_domain_are_slowed_by_no_more_than_was_measured(host, stack):
    """arXiv 2507.03114: 18.9% in the mean, 40.0% at most. Gathers at the rate of NVLink are the heaviest there are."""
    parts = priced(host, stack)
    unit = parts.units.layer(blocks_of(parts.rank.model, 0))
    taken = parts.durations.taken(Exchange("shard", "all_gather", unit.dense * 2))
    for kind in "FB":
        computes = [item for piece in unit.pieces[kind] for item in piece.items if item.stream == COMPUTE]
        alone = sum(item.seconds for item in computes)
        beside = sum(item.seconds / pace(taken, item.memory) for item in computes)
        assert 1.1 < beside / alone < 1.4
