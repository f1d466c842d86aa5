"""Matrix products: never above the roofline, never faster with more work, and close to published times."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import simulator.validation
from simulator import catalog
from simulator.calibration import gemm as calibration
from simulator.calibration import kernels
from simulator.machine import hardware
from simulator.machine.kernels import gemm, roofline

PAIRS = [(name, dtype) for name in catalog.names("gpu") for dtype in hardware.gpu(name).peak if dtype != "int8"]
SHAPES = ((1, 4096, 4096), (4096, 4096, 4096), (4096, 28672, 8192), (16384, 1024, 512))
TABLE = Path(simulator.validation.__file__).parent / "data" / "gemm.csv"
MEASURED = {
    ("a100-80gb", "fp16"): (0.055, 0.051),
    ("a100-pcie-80gb", "bf16"): (0.036, 0.034),
    ("a100-sxm-80gb", "fp16"): (0.081, 0.081),
    ("a40", "fp16"): (0.058, 0.047),
    ("h100-sxm-80gb", "fp16"): (0.074, 0.068),
    ("h100-sxm-80gb", "fp8"): (0.102, 0.102),
    ("h800-sxm-80gb", "fp8"): (0.050, 0.024),
    ("mi300x", "fp8"): (0.040, 0.040),
}
"""Mean absolute error by GPU and precision: all rows, and those of at least 1024 tokens."""
sizes = st.integers(1, 64).map(lambda count: 64 * count)


def cells(rows: list[calibration.Product], predicted: np.ndarray, tokens: int = 1) -> dict[tuple[str, str], float]:
    errors = defaultdict(list)
    for row, seconds in zip(rows, predicted, strict=True):
        if row.m >= tokens:
            errors[row.gpu, row.dtype].append(abs(seconds / row.seconds - 1))
    return {cell: float(np.mean(values)) for cell, values in errors.items()}


@pytest.mark.parametrize("name,dtype", PAIRS)
def test_the_roofline_is_never_exceeded(name: str, dtype: str):
    gpu = hardware.gpu(name)
    for shape in SHAPES:
        for adds in (False, True):
            bytes_moved = gemm.traffic(*shape, dtype=dtype, accumulate=adds)
            bound = roofline.time(gpu, gemm.flops(*shape), bytes_moved, dtype)
            assert gemm.time(gpu, *shape, dtype=dtype, accumulate=adds) >= bound


@given(pair=st.sampled_from(PAIRS), m=sizes, n=sizes, k=sizes, more=sizes, axis=st.sampled_from("mnk"))
def test_more_work_is_never_faster(pair: tuple[str, str], m: int, n: int, k: int, more: int, axis: str):
    shape = {"m": m, "n": n, "k": k}
    larger = shape | {axis: shape[axis] + more}
    gpu, dtype = hardware.gpu(pair[0]), pair[1]
    assert gemm.time(gpu, **larger, dtype=dtype) >= gemm.time(gpu, **shape, dtype=dtype)


def test_one_token_more_than_fills_the_chip_costs_part_of_a_wave():
    gpu = hardware.gpu("h100")
    full = gemm.time(gpu, 128 * 132, 256, 8192)
    assert 1.02 * full < gemm.time(gpu, 128 * 132 + 1, 256, 8192) < 2 * full


def test_groups_in_one_kernel_are_no_slower_than_one_after_the_other():
    gpu = hardware.gpu("a100")
    assert gemm.time(gpu, 512, 2048, 4096, groups=8) <= 8 * gemm.time(gpu, 512, 2048, 4096)


def test_adding_into_fp32_costs_more_than_writing():
    gpu = hardware.gpu("a100")
    assert gemm.time(gpu, 4096, 4096, 4096, accumulate=True) > gemm.time(gpu, 4096, 4096, 4096)


def test_fp8_gains_less_than_twice_and_least_where_products_are_thin():
    gpu = hardware.gpu("h100")
    thin, deep = (gemm.time(gpu, 8192, 8192, k) / gemm.time(gpu, 8192, 8192, k, dtype="fp8") for k in (1024, 16384))
    assert 1 < thin < deep < 2


def test_odd_rows_are_slow_and_padding_them_pays():
    gpu = hardware.gpu("a100")
    assert gemm.time(gpu, 8192, 768, 50257) > 2 * gemm.time(gpu, 8192, 768, 50304)
    assert gemm.time(gpu, 50257, 768, 8192, accumulate=True) > 2 * gemm.time(gpu, 50304, 768, 8192, accumulate=True)
    assert gemm.time(gpu, 8192, 50257, 768) == pytest.approx(gemm.time(gpu, 8192, 50304, 768), rel=0.01)


def test_no_product_takes_no_time():
    assert gemm.time(hardware.gpu("h100"), 0, 4096, 4096) == 0


def test_published_times_are_met_within_the_stated_error():
    rows = calibration.products(TABLE)
    shipped = {row.gpu: hardware.gpu(row.gpu).kernels.gemm for row in rows}
    predicted = calibration.predictions(shipped, rows)
    everything, large = cells(rows, predicted), cells(rows, predicted, tokens=1024)
    for cell, (bound, bound_of_large) in MEASURED.items():
        assert everything[cell] <= bound, cell
        assert large[cell] <= bound_of_large, cell
    assert np.mean([everything[cell] for cell in MEASURED]) <= 0.061
    assert np.mean([large[cell] for cell in MEASURED]) <= 0.055


@pytest.mark.slow
def test_weight_shapes_left_out_of_the_fit_are_met_within_eight_percent():
    rows, left_out, predicted = calibration.products(TABLE), [], []
    for known, unknown in kernels.folds(rows, lambda row: row.weight):
        left_out += unknown
        predicted.append(calibration.predictions(calibration.fitted(known), unknown))
    everything, large = (cells(left_out, np.concatenate(predicted), tokens) for tokens in (1, 1024))
    assert np.mean([everything[cell] for cell in MEASURED]) <= 0.08
    assert np.mean([large[cell] for cell in MEASURED]) <= 0.06
