"""Measurements become factors, factors a file, and the file changes predictions of what it was measured on only."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest
import yaml

from simulator.calibration import network, products, software
from simulator.calibration.file import text
from simulator.calibration.nccl_tests import Log
from simulator.calibration.shrinking import shrunk
from simulator.engine.prices.calibrated import with_kernels
from simulator.errors import ScenarioError
from simulator.machine import collectives
from simulator.machine.hardware import gpu, host
from simulator.machine.kernels import casts, gemm
from simulator.machine.network import Network, NetworkCalibration
from simulator.measured.explained import step_time
from simulator.scenario import Scenario, from_dict, read
from simulator.scenario.calibration import Calibration, Kernel
from simulator.simulation import predict
from topologies.fat_tree import FatTree

RACK = {
    "version": "1",
    "model": "llama-3.1-8b",
    "cluster": {"host": "hgx-h100", "hosts": "4"},
    "stack": "megatron-core-2024",
    "parallelism": {"tensor": "4"},
    "training": {"tokens": "1G", "sequence_length": "4096", "global_batch": "64", "microbatch": "1"},
    "runs": "1",
}
H100 = gpu("h100-sxm-80gb")
SHAPES = [(4096, n, k) for n in (1024, 4096, 14336) for k in (1024, 4096, 14336)]


def scenario(**changes) -> Scenario:
    return from_dict(RACK | changes)


def step(**calibration) -> float:
    return predict(replace(scenario(), calibration=Calibration(**calibration))).step_time_s


def table(rate: float, shapes=SHAPES) -> str:
    rows = (f"{m},{n},{k},{gemm.time(H100, m, n, k, regime='burst') / rate * 1e6}" for m, n, k in shapes)
    return "m,n,k,time_us\n" + "\n".join(rows)


def test_a_calibration_without_factors_changes_nothing():
    assert step() == predict(scenario()).step_time_s


@pytest.mark.parametrize(
    "slower",
    [
        {"software": 0.9},
        {"products": {"bf16": 0.9}},
        {"elementwise": 0.9},
        {"network": NetworkCalibration(scale_up=0.8)},
        {"network": NetworkCalibration(latency=2.0)},
    ],
    ids=str,
)
def test_each_factor_moves_the_step(slower):
    assert step(**slower) > step()


def test_factors_are_not_applied_to_what_was_not_measured_and_a_warning_says_so():
    for name, other in (("gpu", "b200"), ("stack", "nemo-2024"), ("host", "dgx-b200")):
        factors = {
            "gpu": {"products": {"bf16": "0.5"}},
            "stack": {"software": "0.5"},
            "host": {"network": {"scale_up": "0.5"}},
        }
        found = scenario(calibration=factors[name] | {name: other})
        assert predict(found).step_time_s == predict(scenario()).step_time_s
        assert any(f"measured on {other}" in warning for warning in found.warnings)


def test_a_file_reads_back_as_the_calibration_it_was_written_from(tmp_path: Path):
    told = products.learned(products.parse(table(0.8), "t"), H100, "t")
    written = Calibration(
        gpu=H100.name, products=told.factors, software=0.95, stack="megatron-core-2024", evidence=(told.evidence,)
    )
    (tmp_path / "mine.yaml").write_text(text(written))
    (tmp_path / "scenario.yaml").write_text(yaml.safe_dump(RACK | {"calibration": "mine.yaml"}))
    found = read(tmp_path / "scenario.yaml")
    assert found.calibration.products["bf16"] == pytest.approx(written.products["bf16"], rel=1e-5)
    assert "other GPUs, power limits" in found.calibration.not_for
    assert found.warnings == ()
    assert from_dict(found.resolved).calibration == found.calibration


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("software: fast", "mine.yaml:1:11: calibration.software"),
        ("software: 5000", "expected factors between"),
        ("sofware: 1", "did you mean `software`"),
        ("[1, 2]", "calibration"),
        ("Dear diary", "expected the keys gpu, host"),
        ("products: {bf16: -1}", "calibration.products: expected keys, each with a number"),
    ],
)
def test_a_wrong_file_says_where_it_is_wrong(tmp_path: Path, content: str, message: str):
    (tmp_path / "mine.yaml").write_text(content)
    (tmp_path / "scenario.yaml").write_text(yaml.safe_dump(RACK | {"calibration": "mine.yaml"}))
    with pytest.raises(ScenarioError, match=message):
        read(tmp_path / "scenario.yaml")


def test_few_rows_are_believed_little():
    assert shrunk(0.5, 0) == 1.0
    assert shrunk(0.5, 5) == pytest.approx(0.5**0.5)
    assert shrunk(0.5, 10**6) == pytest.approx(0.5, rel=1e-4)


def test_a_table_of_products_gives_the_rate_back():
    told = products.learned(products.parse(table(0.8, SHAPES * 20), "t"), H100, "t")
    assert told.factors["bf16"] == pytest.approx(0.8, rel=0.01)
    assert told.evidence.after < 0.01 < told.evidence.before


def test_a_table_of_many_shapes_gives_the_constants_of_the_gpu_that_made_it():
    """Times of a chip that loads and multiplies as H100 does not; 120 shapes, a minute of measuring."""
    rng = np.random.default_rng(5)
    own = Kernel(rate=0.7, edge=4.0, memory=0.7, l2=15e9, start=6e-6, throttle=0.4)
    other = with_kernels(H100, {"bf16": own})
    shapes = [tuple(64 * int(side) for side in 2 ** rng.uniform(0, 7, size=3)) for _ in range(240)]
    rows = [f"{m},{n},{k},{1e6 * gemm.time(other, m, n, k, regime='burst')}" for m, n, k in shapes]
    told = products.learned(products.parse("m,n,k,time_us\n" + "\n".join(rows[:120]), "t"), H100, "t")
    assert not told.factors
    assert told.evidence.after < 0.02 < 0.1 < told.evidence.before
    found = with_kernels(H100, told.kernels)
    errors = [
        abs(gemm.time(found, m, n, k, regime="burst") / gemm.time(other, m, n, k, regime="burst") - 1)
        for m, n, k in shapes[120:]
    ]
    assert np.median(errors) < 0.02
    slow = {name: str(value) for name, value in asdict(told.kernels["bf16"]).items()}
    slow |= {"l2": slow["l2"] + "B/s", "start": slow["start"] + "s"}
    slower = scenario(calibration={"gpu": H100.name, "kernels": {"bf16": slow}})
    assert predict(slower).step_time_s > predict(scenario()).step_time_s


def test_a_chip_without_16_bit_units_is_learned_from_as_many_shapes():
    """No power limit is known of it, so that its clock stays."""
    chip = replace(H100, name="cpu", architecture="unknown", peak={"fp32": 1e12}, best_matmul={})
    shapes = [(64 * m, 512, 64 * k) for m in range(1, 8) for k in range(1, 8)]
    rows = [f"{m},{n},{k},fp32,{1e6 * gemm.time(chip, m, n, k, dtype='fp32') / 0.8}" for m, n, k in shapes]
    told = products.learned(products.parse("m,n,k,dtype,time_us\n" + "\n".join(rows), "t"), chip, "t")
    assert told.evidence.after < told.evidence.before
    assert 0 < told.kernels["fp32"].throttle <= 1


def test_a_table_of_many_gpus_is_learned_from_by_the_rows_of_one_as_they_were_repeated():
    rows = [
        f"{gpu},{m},{n},{k},{regime},fp8,cast + product,{(seconds + cast) / 0.8 * 1e6}"
        for m, n, k in SHAPES * 20
        for gpu in ("H100 SXM", "B200")
        for regime in ("burst", "sustained")
        for seconds in [gemm.time(H100, m, n, k, dtype="fp8", regime=regime)]
        for cast in [casts.time(H100, m * k, dtype="fp8", regime=regime)]
    ]
    found = products.parse("gpu,m,n,k,regime,dtype,includes,time_us\n" + "\n".join(rows), "t")
    told = products.learned(found, H100, "t")
    assert told.factors["fp8"] == pytest.approx(0.8, rel=0.01)
    assert told.evidence.rows == len(rows) / 2
    with pytest.raises(ScenarioError, match="no row of a100-sxm-80gb; it has those of B200, H100 SXM"):
        products.learned(found, gpu("a100"), "t")


def test_one_row_moves_a_rate_by_a_sixth_of_its_logarithm():
    told = products.learned(products.parse(table(0.5, SHAPES[:1]), "t"), H100, "t")
    assert told.factors["bf16"] == pytest.approx(0.5 ** (1 / 6))
    assert told.evidence.after < told.evidence.before


def test_logs_of_nccl_tests_give_the_network_back():
    true = NetworkCalibration(latency=1.5, scale_out=0.8)
    dgx = host("dgx-h100")
    channel = Network(dgx, 4, FatTree(), calibration=true).channel(32, 1)
    times = tuple((float(1 << p), collectives.time("all_reduce", float(1 << p), channel)) for p in range(3, 34))
    found, evidence = network.learned([Log(operation="all_reduce", ranks=32, hosts=4, times=times)] * 10, dgx)
    assert found.latency == pytest.approx(1.5, rel=0.03)
    assert found.scale_out == pytest.approx(0.8, rel=0.03)
    assert evidence.after < 0.03 < evidence.before


def test_steps_give_the_factor_of_the_software_back():
    true = 0.8
    measured = predict(replace(scenario(), calibration=Calibration(software=true))).step_time_s
    runs = [software.Run(scenario(), measured, "log")] * 100
    factor, evidence = software.learned(runs[:1], Calibration())
    assert factor == pytest.approx(true ** (1 / 6), rel=0.002)
    assert evidence.after < evidence.before
    many = shrunk(true, len(runs))
    assert many == pytest.approx(true, rel=0.02)


def test_steps_that_no_software_explains_and_mixed_stacks_are_refused():
    with pytest.raises(ScenarioError, match="no factor on compute explains that"):
        software.learned([software.Run(scenario(), 1e4, "log")], Calibration())
    other = scenario(stack="nemo-2024")
    with pytest.raises(ScenarioError, match="one stack on one GPU"):
        software.learned([software.Run(scenario(), 5.0, "a"), software.Run(other, 5.0, "b")], Calibration())


MEGATRON = " iteration {i}/ 500 | consumed samples: 9 | elapsed time per iteration (ms): {ms} | learning rate: 1E-4 |\n"
TITAN = "\x1b[31m[titan] step: {i}  \x1b[32mloss:  8.1  memory: 33.2GiB(42%)  tps: {tps}  tflops: 377.1  mfu: 38.1%\n"


@pytest.mark.parametrize(
    ("log", "seconds", "kind"),
    [
        ("".join(MEGATRON.format(i=i, ms=90000 if i == 1 else 8000 + i) for i in range(1, 12)), 8.0065, "Megatron-LM"),
        ("".join(TITAN.format(i=i, tps="6,512") for i in range(9)), 64 * 4096 / (6512 * 32), "torchtitan"),
        ("Epoch 0: | train_step_timing in s: 5.43\n" * 3, 5.43, "NeMo"),
        ("Step Time : 5.50s GPU utilization: 400.1MODEL_TFLOP/s/GPU\n" * 3, 5.50, "NeMo"),
    ],
)
def test_logs_of_frameworks_give_the_median_step_after_the_first(log, seconds, kind):
    found, name = step_time(log, "train.log", scenario())
    assert found == pytest.approx(seconds)
    assert name == kind


def test_a_log_without_steps_is_refused_with_what_is_known():
    with pytest.raises(ScenarioError, match="known are logs of DeepSpeed"):
        step_time("hello\n", "x.log", scenario())


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("a,b\n1,2", "no column m, n, k, time_us"),
        ("m,n,k,time_us\n1,1,1,0", "t:2: time_us: expected a number above zero"),
        ("m,n,k,time_us\n1,1,0.5,1", "t:2: k: expected a whole number, found 0.5"),
        ("m,n,k,time_us\n", "no rows"),
        ("m,n,k,time_us,regime\n1,1,1,1,hot", "t:2: regime: found 'hot', expected one of training, sustained, burst"),
    ],
)
def test_a_wrong_table_of_products_says_what_is_wrong(rows, message):
    with pytest.raises(ScenarioError, match=message):
        products.parse(rows, "t")
