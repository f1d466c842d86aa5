"""Attention: closed forms of its work, limits of its rate, and published rates."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import simulator.validation
from simulator import catalog
from simulator.calibration import attention as calibration
from simulator.calibration import kernels
from simulator.machine import hardware
from simulator.machine.kernels import attention, roofline

TABLE = Path(simulator.validation.__file__).parent / "data" / "attention.csv"
H100 = hardware.gpu("h100")
SHAPE = {"batch": 4, "heads": 32, "queries": 4096, "keys": 4096, "head_size": 128}
MEASURED = {("a100-sxm-80gb", "bf16"): 0.02, ("b200", "fp8"): 0.02, ("h100-sxm-80gb", "bf16"): 0.02}
MEASURED |= {("h100-sxm-80gb", "fp16"): 0.026}
"""Mean absolute error by GPU and precision."""


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
    few = SHAPE | {"batch": 1, "heads": 2, "queries": 2048, "keys": 2048}
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


def test_published_rates_are_met_within_the_stated_error():
    rows = calibration.timings(TABLE)
    predicted = calibration.predictions({}, H100.kernels.unfused, rows)
    for cell, error in cells(rows, predicted).items():
        assert error <= MEASURED[cell], cell


@pytest.mark.slow
def test_sequences_left_out_of_the_fit_are_met_within_five_percent():
    rows, left_out, predicted = calibration.timings(TABLE), [], []
    for known, unknown in kernels.folds(rows, lambda row: row.sequence, 6):
        left_out += unknown
        constants, passes = calibration.fitted(known), calibration.fitted_passes(known)
        predicted.append(calibration.predictions(constants, passes, unknown))
    assert max(cells(left_out, np.concatenate(predicted)).values()) <= 0.05


def test_a_cap_of_the_power_slows_attention_as_it_slows_products():
    capped, free = (hardware.gpu(name).kernels for name in ("h100-sxm-96gb-500w", "h100-sxm-80gb"))
    slower = (500 / 700) ** 0.25
    for kernel in ("flash-2", "cudnn"):
        shares = [one.attention[kernel]["bf16"].forward[128] for one in (capped, free)]
        assert shares[0] / shares[1] == pytest.approx(slower, rel=1e-3)
    throttles = [one.gemm.formats["bf16"] for one in (capped, hardware.gpu("h800-sxm-80gb").kernels)]
    clocks = (throttles[0].throttle / throttles[1].throttle) ** throttles[0].slowing
    assert clocks == pytest.approx(slower, rel=1e-2)
