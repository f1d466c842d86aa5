"""Matrix products: never above the roofline, never faster with more work, and close to published times."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import simulator.validation
from simulator import catalog
from simulator.calibration import gemm as calibration
from simulator.calibration import gemm_left_out, kernels
from simulator.calibration.gemm_rows import products
from simulator.convert import plain_yaml
from simulator.errors import ScenarioError
from simulator.machine import hardware
from simulator.machine.kernels import gemm, roofline
from simulator.validation.measured_product import Product

PAIRS = [(name, dtype) for name in catalog.names("gpu") for dtype in hardware.gpu(name).peak if dtype != "int8"]
SHAPES = ((1, 4096, 4096), (4096, 4096, 4096), (4096, 28672, 8192), (16384, 1024, 512))
TABLE = Path(simulator.validation.__file__).parent / "data" / "gemm.csv"
MEASURED = {
    ("a100-80gb", "fp16"): (0.055, 0.052),
    ("a100-pcie-80gb", "bf16"): (0.037, 0.035),
    ("a100-sxm-80gb", "fp16"): (0.064, 0.064),
    ("a40", "fp16"): (0.058, 0.049),
    ("h100-sxm-80gb", "fp16"): (0.094, 0.076),
    ("h100-sxm-80gb", "fp8"): (0.079, 0.079),
    ("h800-sxm-80gb", "fp8-block"): (0.080, 0.080),
    ("mi300x", "fp8"): (0.040, 0.040),
}
"""Mean absolute error by GPU and precision: all rows, and those of at least 1024 tokens."""
sizes = st.integers(1, 64).map(lambda count: 64 * count)


def cells(rows: list[Product], tokens: int = 1) -> dict[tuple[str, str], float]:
    """Return the mean absolute error of the shipped constants by GPU and precision."""
    errors = defaultdict(list)
    for batch in calibration.batches([row for row in rows if row.m >= tokens]):
        found = calibration.of_gpu(batch, batch.gpu)
        errors[batch.gpu.name, batch.dtype] += list(np.abs(found / batch.seconds - 1))
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
    assert 1.01 * full < gemm.time(gpu, 128 * 132 + 1, 256, 8192) < 2 * full


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


@given(pair=st.sampled_from(PAIRS), m=sizes, n=sizes, k=sizes)
def test_a_product_repeated_for_long_is_no_faster_and_one_among_others_slower_still(pair, m, n, k):
    """The clock falls as it is repeated; in a step operands come from memory too."""
    gpu, dtype = hardware.gpu(pair[0]), pair[1]
    burst, sustained, training = (
        gemm.time(gpu, m, n, k, dtype=dtype, regime=regime) for regime in ("burst", "sustained", "training")
    )
    assert burst <= sustained * (1 + 1e-12)
    assert sustained <= training * (1 + 1e-12)


def test_the_clock_falls_as_a_power_of_what_the_product_reaches_of_the_peak():
    """Closed form of a product that is all multiplying: u / u0 to the exponent, and nothing below u0."""
    gpu = hardware.gpu("h100")
    constants = gemm.of_format(gpu, "bf16")
    shape = (16384, 16384, 16384)
    free = replace(constants, throttle=1.0)
    formats = {**gpu.kernels.gemm.formats, "bf16": free}
    unlimited = hardware.calibrated(gpu, replace(gpu.kernels, gemm=replace(gpu.kernels.gemm, formats=formats)))
    full, slowed = (gemm.time(one, *shape) - constants.start for one in (unlimited, gpu))
    reached = gemm.flops(*shape) / full / gpu.peak["bf16"]
    assert reached > constants.throttle
    assert slowed / full == pytest.approx((reached / constants.throttle) ** constants.slowing, rel=1e-9)
    thin = (64, 8192, 8192)
    assert gemm.time(gpu, *thin) == gemm.time(unlimited, *thin)


def test_many_products_at_once_are_what_each_of_them_is():
    """Arrays and single numbers go the same way."""
    gpu = hardware.gpu("b200")
    shapes = [(1, 4096, 4096), (300, 512, 8192), (8192, 28672, 8192)]
    arrays = gemm.Shape(*(np.array(axis, float) for axis in zip(*shapes, strict=True)), np.ones(3))
    for dtype in ("bf16", "fp8", "fp8-block", "nvfp4"):
        for regime in ("burst", "sustained", "training"):
            together = gemm.seconds(gpu, arrays, dtype=dtype, regime=regime)
            assert together == pytest.approx([gemm.time(gpu, *one, dtype=dtype, regime=regime) for one in shapes])


def test_a_format_without_a_model_is_refused_with_those_that_have_one():
    with pytest.raises(ScenarioError, match="no model of products in int8; there is one of fp32"):
        gemm.of_format(hardware.gpu("h100"), "int8")


def test_published_times_are_met_within_the_stated_error():
    rows = products(TABLE)
    everything, large = cells(rows), cells(rows, tokens=1024)
    for cell, (bound, bound_of_large) in MEASURED.items():
        assert everything[cell] <= bound, cell
        assert large[cell] <= bound_of_large, cell
    assert np.mean([everything[cell] for cell in MEASURED]) <= 0.065
    assert np.mean([large[cell] for cell in MEASURED]) <= 0.058


def test_the_fit_finds_the_times_again_that_constants_made():
    """Times by H100's own constants, from a prior that knows none; several trade against each other."""
    gpu, rng = hardware.gpu("h100"), np.random.default_rng(1)
    powers = 2.0 ** rng.integers(6, 15, size=(400, 3))
    known = Product("h100-sxm-80gb", "bf16", 1, 0, 0, 0, False, "burst", 0.0, 0.0, ())
    rows = [
        known._replace(m=m, n=n, k=k, regime=regime, seconds=gemm.time(gpu, m, n, k, regime=regime))
        for m, n, k in powers.astype(int).tolist()
        for regime in ("burst", "sustained")
    ]
    found = calibration.fitted(rows[::2], calibration.priors("hopper"), "bf16").product
    constants = calibration.priors("hopper")
    constants = replace(constants, formats={**constants.formats, "bf16": found})
    for batch in calibration.batches(rows[1::2]):
        errors = np.abs(
            calibration.of_gpu(batch, calibration.of_architecture(batch.gpu, constants)) / batch.seconds - 1
        )
        assert np.median(errors) < 0.01
        assert np.quantile(errors, 0.9) < 0.04
    true = gemm.of_format(gpu, "bf16")
    for name, within in (("rate", 0.05), ("memory", 0.05), ("throttle", 0.1)):
        assert getattr(found, name) == pytest.approx(getattr(true, name), rel=within), name


def test_an_architecture_that_nobody_measured_takes_the_constants_that_all_share_at_its_own_power():
    """Rows of three chips by constants that they share; the chip left out is as close as its own rows would be."""
    shared = calibration.priors("unknown")
    sides = 64 * np.random.default_rng(2).integers(1, 128, size=(120, 3))
    known = Product("", "bf16", 1, 0, 0, 0, False, "burst", 0.0, 0.0, ())
    rows = []
    for name in ("a100-sxm-80gb", "h100-sxm-80gb", "b200"):
        gpu = calibration.of_unknown(hardware.gpu(name), shared)
        for m, n, k in sides.tolist():
            seconds = gemm.time(gpu, m, n, k, regime="burst")
            rows.append(known._replace(gpu=name, m=m, n=n, k=k, seconds=seconds))
    (score,) = gemm_left_out.without_architecture(rows, "hopper")
    assert (score.gpu, score.rows) == ("h100-sxm-80gb", 120)
    assert score.middle < 0.02
    assert not gemm_left_out.without_gpu(rows, "a40")


@pytest.mark.parametrize("name", ["gemm", "attention"])
def test_the_entry_that_ships_reads_back_as_it_is_written(name: str):
    entry = catalog.entry("calibration", name)
    assert plain_yaml.load(kernels.text(entry, "As a fit writes it.")) == entry
