"""Attention: closed forms of its work, limits of its rate, and published rates."""

from __future__ import annotations

from collections import defaultdict
from math import ceil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import simulator.validation
from simulator import catalog
from simulator.calibration import attention as calibration
from simulator.calibration import kernels
from simulator.calibration.attention_rows import read
from simulator.machine import hardware
from simulator.machine.kernels import attention, attention_grid, attention_order, attention_serving, clock, roofline

TABLE = Path(simulator.validation.__file__).parent / "data" / "attention.csv"
H100 = hardware.gpu("h100")
SHAPE = {"batch": 4, "heads": 32, "queries": 4096, "keys": 4096, "head_size": 128}
MEASURED = {("a100-sxm-80gb", "bf16"): 0.02, ("b200", "fp8"): 0.02, ("h100-sxm-80gb", "bf16"): 0.03}
MEASURED |= {("h100-sxm-80gb", "fp16"): 0.022}
"""Mean absolute error by GPU and precision."""
LEFT_OUT = Path(__file__).parent / "attention_left_out.csv"
"""Rows of kernels in serving engines whose shapes were left out of the fit."""


def every_kernel(gpu: hardware.Gpu) -> tuple[str, ...]:
    return (*attention.UNFUSED, *gpu.kernels.attention)


def cells(rows: list[calibration.Timing], predicted: np.ndarray) -> dict[tuple[str, str], float]:
    errors = defaultdict(list)
    for row, seconds in zip(rows, predicted, strict=True):
        errors[row.gpu, row.dtype].append(abs(seconds / row.seconds - 1))
    return {cell: float(np.mean(values)) for cell, values in errors.items()}


@given(
    queries=st.integers(1, 40),
    before=st.integers(0, 40),
    window=st.one_of(st.none(), st.integers(1, 80)),
    causal=st.booleans(),
)
def test_the_keys_seen_are_those_under_the_mask(queries: int, before: int, window: int | None, causal: bool):
    keys = queries + before
    seen = [min(window or keys, before + query + 1 if causal else keys) for query in range(queries)]
    assert attention.keys_seen(queries, keys, causal=causal, window=window) == pytest.approx(np.mean(seen), abs=0.5)


def test_forward_counts_four_products_of_sizes_and_a_causal_mask_halves_them():
    work = attention.flops(**SHAPE, causal=False)
    assert work == 4 * 4 * 32 * 4096**2 * 128
    assert attention.flops(**SHAPE) == work / 2
    assert attention.flops(**SHAPE, backward=True) == 2.5 * work / 2


def test_values_of_another_size_than_keys_count_as_they_are():
    work = attention.flops(**SHAPE | {"head_size": 192}, value_size=128, causal=False)
    assert work == 2 * 4 * 32 * 4096**2 * (192 + 128)


@pytest.mark.parametrize("name", catalog.names("gpu"))
def test_no_kernel_exceeds_the_roofline(name: str):
    gpu = hardware.gpu(name)
    dtype = "bf16" if "bf16" in gpu.peak else "fp16"
    for kernel in every_kernel(gpu):
        for backward in (False, True):
            bound = roofline.time(gpu, attention.flops(**SHAPE, backward=backward), 0.0, dtype)
            assert attention.time(gpu, **SHAPE, backward=backward, kernel=kernel, dtype=dtype) > bound


@pytest.mark.parametrize("kernel", every_kernel(H100))
def test_longer_sequences_take_more_than_proportionally_longer(kernel: str):
    times = [attention.time(H100, **SHAPE | {"queries": s, "keys": s}, kernel=kernel) for s in (1024, 2048, 4096)]
    assert times[1] > 2 * times[0]
    assert times[2] > 2 * times[1]


def test_a_mask_saves_almost_half_of_long_sequences_and_less_of_short_ones():
    def saved(s: int) -> float:
        shape = SHAPE | {"queries": s, "keys": s}
        return 1 - attention.time(H100, **shape) / attention.time(H100, **shape, causal=False)

    assert 0 < saved(512) < saved(4096) < saved(65536) < 0.5


def test_a_window_makes_long_sequences_linear():
    long, longer = (attention.time(H100, **SHAPE | {"queries": s, "keys": s}, window=4096) for s in (65536, 131072))
    assert longer / long == pytest.approx(2, rel=0.05)


def test_few_heads_leave_multiprocessors_idle():
    few = SHAPE | {"batch": 1, "heads": 2, "queries": 2048, "keys": 2048, "kernel": "cudnn"}
    assert attention.time(H100, **few) > 0.9 * attention.time(H100, **few | {"heads": 4})


def test_shared_keys_change_neither_the_work_nor_a_long_sequence():
    assert attention.time(H100, **SHAPE, kv_heads=8) == attention.time(H100, **SHAPE)


def test_flash_beats_unfused_and_unfused_beats_eager():
    order = [attention.time(H100, **SHAPE, kernel=kernel) for kernel in ("flash-3", "flash-2", "unfused", "eager")]
    assert order == sorted(order)


def test_a_head_of_odd_size_is_many_times_slower_unfused():
    odd, even = (attention.time(H100, **SHAPE | {"head_size": d}, kernel="unfused") for d in (225, 232))
    assert odd > 3 * even


def test_a_kernel_that_the_architecture_lacks_is_its_newest():
    gpu = hardware.gpu("a100")
    assert attention.newest(gpu) == "flash-2"
    for kernel in ("flash-3", "newest"):
        assert attention.time(gpu, **SHAPE, kernel=kernel) == attention.time(gpu, **SHAPE, kernel="flash-2")
    assert attention.newest(hardware.gpu("v100")) == "unfused"


@given(
    queries=st.integers(1, 3000),
    before=st.integers(0, 3000),
    block=st.sampled_from([64, 128, 256]),
    window=st.one_of(st.none(), st.integers(1, 3000)),
    causal=st.booleans(),
)
def test_the_grid_walks_the_steps_of_every_block(queries, before, block, window, causal):
    """Counted block by block, but for the last one, which stands for a full one."""
    keys = queries + before
    hidden = window if window is not None and window < keys else None
    found = attention_grid.forward(3, queries, keys, block, causal=causal, window=hidden)
    base = ceil((keys - queries) / 64)
    widest = ceil(keys / 64) if hidden is None else min(ceil(keys / 64), hidden / 64 + block / 64)
    rows = range(1, ceil(queries / block) + 1)
    steps = [min(widest, base + row * block / 64) if causal else widest for row in rows]
    assert found.blocks == 3 * len(steps)
    assert found.steps == pytest.approx(sum(steps))
    assert found.longest == pytest.approx(max(steps))


@given(queries=st.integers(1, 40), heads=st.integers(1, 200), sms=st.integers(8, 160))
def test_a_fixed_order_ends_with_its_first_multiprocessor(queries, heads, sms):
    """Closed form against dealing the blocks out, longest first, one to each multiprocessor in turn."""
    grid = attention_grid.forward(heads, queries * 128, queries * 128, 128, causal=True, window=None)
    blocks = [2.0 * row for row in range(queries, 0, -1) for _ in range(heads)]
    dealt = sum(blocks[place] + 1.0 for place in range(0, len(blocks), sms))
    # The closed form takes the rows in between where columns do not divide multiprocessors.
    assert attention_order.first(grid, sms, 1.0, 1.0) == pytest.approx(dealt, abs=2.0 * ceil(len(blocks) / sms))


@given(waves=st.floats(0.1, 20), even=st.floats(1, 100), one=st.floats(1, 100), triangle=st.floats(0, 1))
@pytest.mark.parametrize("sections", [0.0, 1.0, 32.0])
def test_blocks_end_no_sooner_than_the_longest_and_than_an_even_share(sections, waves, even, one, triangle):
    deal = attention_order.Deal(waves, even, one, max(even, one), triangle, sections)
    if waves <= 1:
        deal = deal._replace(even=min(even, one))
    assert attention_order.core(deal, 3.0, 0.5) >= (1 - 1e-9) * max(deal.even, deal.one)


@given(used=st.floats(0.01, 1), threshold=st.floats(0.1, 1), seconds=st.floats(0, 1))
def test_the_clock_of_a_burst_is_between_the_maximum_and_the_sustained_one(used, threshold, seconds):
    sustained = clock.share(used, threshold)
    assert sustained <= clock.share(used, threshold, burst=seconds) <= 1
    assert clock.share(used, threshold, burst=0.0) == 1
    if used > threshold:
        assert sustained == pytest.approx((threshold / used) ** 0.4)


def test_training_runs_long_sequences_at_a_lower_clock_than_a_burst_and_short_ones_at_the_same():
    shape = SHAPE | {"batch": 1, "queries": 8192, "keys": 8192, "kernel": "flash-3"}
    assert attention.time(H100, **shape) > 1.05 * attention.time(H100, **shape, burst=True)
    short = shape | {"batch": 1, "heads": 2, "queries": 512, "keys": 512}
    assert attention.time(H100, **short) == attention.time(H100, **short, burst=True)


def test_few_heads_split_their_keys_where_the_kernel_does():
    few = SHAPE | {"batch": 1, "heads": 1, "queries": 4096, "keys": 4096, "kernel": "flash-3"}
    assert attention.time(H100, **few, serving=True) < 0.8 * attention.time(H100, **few)


def test_a_window_goes_over_into_none():
    def at(window: int | None) -> float:
        return attention.time(H100, **SHAPE, window=window, kernel="flash-3")

    windows = [at(window) for window in (64, 128, 256, 512, 1024, 2048, 4096)]
    assert windows == sorted(windows)
    assert at(4095) == pytest.approx(at(None), rel=0.03)
    assert at(4096) == at(None)


def test_heads_are_padded_to_those_that_kernels_are_compiled_for():
    sizes = [attention.time(H100, **SHAPE | {"head_size": size}, kernel="flash-3") for size in (72, 80, 96, 128)]
    assert sizes[0] == pytest.approx(sizes[2], rel=0.05)
    assert sizes[1] < sizes[3]


def test_shapes_left_out_of_the_fit_are_met():
    """The targets of long, windowed and short sequences together; validation has them one by one."""
    rows = read(LEFT_OUT)
    errors = defaultdict(list)
    for row in rows:
        gpu = hardware.gpu(row.gpu)
        around = gpu.kernels.attention[row.kernel][row.key[2]].serving
        predicted = row.time(gpu) + attention_serving.time(gpu, around, row.extra)
        errors[row.gpu].append(abs(predicted / row.seconds - 1))
    assert set(errors) == {"a100-sxm-80gb", "b200", "gb200", "h100-sxm-80gb", "h200-sxm-141gb", "l40s"}
    for gpu, found in errors.items():
        assert np.median(found) <= (0.15 if gpu == "l40s" else 0.08), gpu


def test_published_rates_are_met_within_the_stated_error():
    rows = [row for row in calibration.timings(TABLE) if row.kernel != "eager"]
    predicted = calibration.predictions(catalog.entry("calibration", "attention"), rows)
    for cell, error in cells(rows, predicted).items():
        assert error <= MEASURED[cell], cell


def test_plain_attention_is_met_within_the_stated_error():
    rows = [row for row in calibration.timings(TABLE) if row.kernel == "eager"]
    predicted = calibration.unfused_seconds(rows, H100.kernels.unfused)
    for cell, error in cells(rows, predicted).items():
        assert error <= 0.025, cell


@pytest.mark.slow
def test_sequences_left_out_of_the_fit_are_met_within_five_percent():
    rows, left_out, predicted = calibration.timings(TABLE), [], []
    rows = [row for row in rows if row.kernel != "eager"]
    entry = catalog.entry("calibration", "attention")
    for known, unknown in kernels.folds(rows, lambda row: row.shape.queries, 6):
        left_out += unknown
        predicted.append(calibration.predictions(calibration.fitted(entry, known), unknown))
    assert max(cells(left_out, np.concatenate(predicted)).values()) <= 0.05


def test_a_cap_of_the_power_slows_attention_as_it_slows_products():
    capped, free = (hardware.gpu(name) for name in ("h100-sxm-96gb-500w", "h100-sxm-80gb"))
    slower = (500 / 700) ** 0.25
    shape = SHAPE | {"batch": 64, "queries": 16384, "keys": 16384, "kernel": "flash-3"}
    times = [attention.time(gpu, **shape) for gpu in (free, capped)]
    assert times[0] / times[1] == pytest.approx(slower, rel=1e-3)
    throttles = [one.kernels.gemm.formats["bf16"] for one in (capped, hardware.gpu("h800-sxm-80gb"))]
    clocks = (throttles[0].throttle / throttles[1].throttle) ** throttles[0].slowing
    assert clocks == pytest.approx(slower, rel=1e-2)
