"""Layers of experts: one expert is a product, padding never pays, and rows of a saturated expert cost what they are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.calibration import experts as calibration
from simulator.calibration.experts_rows import Measured
from simulator.errors import ScenarioError
from simulator.machine import hardware
from simulator.machine.kernels import experts, gemm
from simulator.machine.kernels.experts_constants import DISPATCHED, WHOLE, of_gpu
from simulator.machine.kernels.tiles import configurations
from simulator.validation import expert_loads

GPUS = ("a100", "h100", "h200", "b200", "gb200", "l40s", "mi300x")
FORMATS = {"bf16": GPUS, "fp8": GPUS[1:], "fp8-block": GPUS[1:5], "nvfp4": ("b200", "gb200")}
CASES = [(gpu, dtype) for dtype, gpus in FORMATS.items() for gpu in gpus]


@pytest.mark.parametrize(("name", "dtype"), CASES)
def test_one_expert_without_routing_is_two_plain_products_and_its_passes(name, dtype):
    gpu = hardware.gpu(name)
    known = of_gpu(gpu, dtype)
    one = experts.layer(gpu, [4096], hidden=4096, inner=2048, tokens=0.0)
    single = known.product(gemm.of_format(gpu, dtype))
    formats = {**gpu.kernels.gemm.formats, dtype: single}
    plain = hardware.calibrated(gpu, replace(gpu.kernels, gemm=replace(gpu.kernels.gemm, formats=formats, issue=0.0)))
    up, down = (gemm.time(plain, 4096, *nk, dtype=dtype) for nk in ((4096, 4096), (4096, 2048)))
    around = experts.nbytes(one, known, dtype=dtype) / (gpu.memory_bandwidth * known.copies)
    assert experts.time(gpu, one, dtype=dtype) == pytest.approx(known.start + up + down + around, rel=1e-9)


@pytest.mark.parametrize(("name", "dtype"), CASES)
def test_a_saturated_expert_takes_twice_as_long_for_twice_the_rows(name, dtype):
    gpu, start = hardware.gpu(name), of_gpu(hardware.gpu(name), dtype).start
    few, many = (
        experts.time(gpu, experts.layer(gpu, [rows], hidden=8192, inner=8192, tokens=rows), dtype=dtype) - start
        for rows in (2**18, 2**19)
    )
    assert many / few == pytest.approx(2, rel=0.02)


@given(st.lists(st.integers(0, 3000), min_size=1, max_size=12), st.sampled_from(CASES))
@settings(max_examples=60, deadline=None)
def test_padding_to_whole_tiles_never_makes_it_faster(loads, case):
    """Each expert takes at least the tiles of its rows, and rows that only fill tiles up are not paid less for."""
    gpu = hardware.gpu(case[0])
    tall = configurations(gpu.architecture, 1).a
    height = experts.heights(gpu.architecture, loads)
    assert (height * tall >= sum(loads)).all()
    assert (height <= np.ceil(sum(loads) / tall) + len(loads)).all()
    size = {"hidden": 2048, "inner": 1024, "tokens": 100.0}
    if sum(loads):
        layer = experts.layer(gpu, loads, **size)
        even = layer._replace(heights=layer.rows / tall)
        assert experts.time(gpu, layer, dtype=case[1]) >= experts.time(gpu, even, dtype=case[1]) * (1 - 1e-12)


@given(st.integers(1, 64), st.integers(1, 4096), st.sampled_from(CASES))
@settings(max_examples=60, deadline=None)
def test_uneven_loads_are_never_faster_than_even_ones(count, rows, case):
    gpu, dtype = hardware.gpu(case[0]), case[1]
    rows *= 256
    spread = [0] * (count - 1)
    even = experts.layer(gpu, [rows] * count, hidden=2048, inner=1024, tokens=0.0)
    uneven = experts.layer(gpu, [rows + 1, *([rows] * (count - 1))], hidden=2048, inner=1024, tokens=0.0)
    assert experts.time(gpu, uneven, dtype=dtype) >= experts.time(gpu, even, dtype=dtype)
    assert experts.layer(gpu, [rows, *spread], hidden=2048, inner=1024, tokens=0.0).hit == 1


def test_experts_without_a_row_cost_nothing():
    gpu = hardware.gpu("h100")
    some, padded = (
        experts.time(gpu, experts.layer(gpu, loads, hidden=4096, inner=1024, tokens=64.0))
        for loads in ([32, 32], [32, 32, 0, 0, 0])
    )
    assert some == padded


def test_formats_without_a_model_are_refused_and_dispatched_layers_fall_back():
    gpu = hardware.gpu("h100")
    with pytest.raises(ScenarioError, match="no model of experts in int3"):
        of_gpu(gpu, "int3")
    assert of_gpu(gpu, "bf16", DISPATCHED) == of_gpu(gpu, "bf16", WHOLE)
    assert of_gpu(gpu, "mxfp8") == of_gpu(gpu, "fp8-block")


@pytest.mark.parametrize("law", ["balanced", "power_law_1.01", "power_law_1.2"])
def test_loads_of_all_ranks_are_the_rows_there_are(law):
    """With one rank the measured one has them all, but for what more tokens than one would have to go twice."""
    loads = expert_loads.of_rank(law, 4096, 8, 128, 1, 128)
    assert len(loads) == 128
    assert max(loads) <= 4096
    assert sum(loads) == pytest.approx(4096 * 8, rel=0.01)


def test_the_measured_rank_is_the_fullest_and_replicas_even_it_out():
    tokens, active, count, ranks = 4096, 8, 256, 8
    mean = tokens * active / ranks
    skewed = sum(expert_loads.of_rank("power_law_1.2", tokens, active, count, ranks, count))
    packed = sum(expert_loads.of_rank("power_law_1.2_eplb", tokens, active, count, ranks, 288))
    assert skewed > packed >= mean * 0.99
    assert len(expert_loads.of_rank("power_law_1.2_eplb", tokens, active, count, ranks, 288)) == 288 // ranks


def test_few_rows_reach_few_experts():
    assert expert_loads.of_rank("balanced", 1, 8, 128, 1, 128) == (1.0,) * 8 + (0.0,) * 120
    with pytest.raises(ScenarioError, match="expected balanced"):
        expert_loads.of_rank("lottery", 1, 8, 128, 1, 128)


def test_the_fit_finds_times_again_that_constants_made():
    gpu, known, dice = hardware.gpu("h100"), of_gpu(hardware.gpu("h100"), "bf16"), np.random.default_rng(1)
    rows = []
    for number in range(240):
        loads = [2 ** dice.integers(3, 12)] * int(2 ** dice.integers(0, 6))
        tokens = float(2 ** dice.integers(3, 13))
        layer = experts.layer(
            gpu,
            loads,
            hidden=int(2 ** dice.integers(11, 14)),
            inner=int(2 ** dice.integers(8, 13)),
            tokens=tokens,
            walked=tokens * float(dice.integers(0, 9)),
        )
        seconds = float(experts.seconds(gpu, layer, known, dtype="bf16", regime="burst"))
        rows.append(Measured("h100-sxm-80gb", "bf16", WHOLE, layer, seconds, number % 2))
    learned, kept = (calibration.batches([row for row in rows if row.half == half]) for half in (0, 1))
    found = calibration.fitted(learned, calibration.PRIOR, list(known.__dict__), calibration.UNKNOWN)
    errors = np.abs(calibration.predicted(kept[0], found) / kept[0].seconds - 1)
    assert np.median(errors) < 0.02
    assert np.quantile(errors, 0.9) < 0.05
