"""GPUs and hosts: data-sheet figures in SI units, and the closed forms that follow from them."""

from __future__ import annotations

import pickle
from dataclasses import replace

import pytest

from simulator import catalog, units
from simulator.errors import ScenarioError
from simulator.machine import hardware
from simulator.machine.kernels import gemm, launch, roofline

GPUS = catalog.names("gpu")


@pytest.mark.parametrize("name", GPUS)
def test_every_figure_of_a_gpu_is_positive_and_in_order(name: str):
    gpu = hardware.gpu(name)
    assert 0 < gpu.usable_memory <= gpu.memory
    assert 0 < gpu.idle_power < gpu.power
    assert gpu.memory_bandwidth > 10 * gpu.scale_up / 8 > 0
    assert gpu.host_link > 0
    assert all(peak > 0 for peak in gpu.peak.values())
    assert all(best <= gpu.peak[dtype] for dtype, best in gpu.best_matmul.items())
    order = [gpu.peak[dtype] for dtype in ("fp32", "tf32", "bf16", "fp8", "nvfp4") if dtype in gpu.peak]
    assert order == sorted(order)


@pytest.mark.parametrize("name", catalog.names("host"))
def test_every_host_has_gpus_and_a_network(name: str):
    host = hardware.host(name)
    assert host.gpus <= host.scale_up.domain
    assert host.scale_up.bandwidth == host.gpu.scale_up
    assert host.nics * host.nic_bandwidth > 0
    assert host.power is None or host.power >= host.gpus * host.gpu.power


@pytest.mark.parametrize(
    "name,per_gpu",
    [("dgx-a100", 25e9), ("dgx-h100", 50e9), ("aws-p4d", 6.25e9), ("aws-p5", 50e9), ("gb300-nvl72", 100e9)],
)
def test_network_bandwidth_per_gpu_is_the_published_one(name: str, per_gpu: float):
    host = hardware.host(name)
    assert host.nics * host.nic_bandwidth / host.gpus == per_gpu


def test_the_ridge_of_h100_is_at_295_flops_a_byte():
    assert roofline.ridge(hardware.gpu("h100-sxm-80gb"), "bf16") == pytest.approx(295, rel=0.005)


def test_the_roofline_bends_at_the_ridge():
    gpu = hardware.gpu("b200")
    ridge = roofline.ridge(gpu)
    assert roofline.attainable(gpu, ridge / 2) == pytest.approx(gpu.peak["bf16"] / 2)
    assert roofline.attainable(gpu, ridge * 2) == gpu.peak["bf16"]
    assert roofline.time(gpu, ridge * 1e9, 1e9) == pytest.approx(1e9 / gpu.memory_bandwidth)


def test_usable_memory_of_an_80_gb_part_is_what_out_of_memory_messages_say():
    assert hardware.gpu("a100-sxm-80gb").usable_memory == units.parse("79.15GiB", "B")
    assert hardware.gpu("h100-sxm-80gb").usable_memory == units.parse("79.6GiB", "B")


@pytest.mark.parametrize(("peak", "power"), [(989.4e12, 700), (275e12, 192)], ids=["H100 SXM", "TPU v4"])
def test_the_power_of_a_part_without_one_is_near_the_published_ones(peak: float, power: float):
    gpu = hardware.Gpu(memory=100.0, memory_bandwidth=1e12, peak={"bf16": peak})
    assert gpu.power == pytest.approx(power, rel=0.02)
    assert 0 < gpu.idle_power < gpu.power / 5


def test_the_usable_memory_of_a_part_without_one_is_near_what_messages_say():
    """Out of memory, PyTorch prints 79.15 GiB for 80 GiB of an A100."""
    gpu = hardware.Gpu(memory=80 * 2**30, memory_bandwidth=1e12, peak={"bf16": 1e15})
    assert gpu.usable_memory == pytest.approx(79.15 * 2**30, rel=0.002)


def test_a_precision_the_gpu_lacks_is_a_mistake_of_the_input():
    with pytest.raises(ScenarioError, match="a100-sxm-80gb has no fp8"):
        hardware.gpu("a100").peak_of("fp8")


def test_equal_gpus_are_one_key_and_survive_another_process():
    gpu = hardware.gpu("h100")
    again = pickle.loads(pickle.dumps(gpu))
    assert again == gpu
    assert hash(again) == hash(gpu)


@pytest.mark.parametrize("name", GPUS)
def test_graphs_launch_no_slower_than_streams(name: str):
    gpu = hardware.gpu(name)
    assert 0 < launch.launch_overhead(gpu, graphs=True) <= launch.launch_overhead(gpu)


def test_less_power_for_the_same_peak_is_slower_within_an_architecture():
    """A deep product is bound by its clock, which follows the power law of the table."""
    capped, part = (hardware.gpu(name).kernels.gemm.formats["bf16"] for name in ("h100-sxm-96gb-500w", "h800"))
    assert capped.throttle == pytest.approx(part.throttle * (500 / 700) ** (0.25 / capped.slowing), rel=0.01)
    shape = (16384, 16384, 16384)
    slow, fast = (gemm.time(hardware.gpu(name), *shape) for name in ("h100-sxm-96gb-500w", "h800"))
    assert slow / fast == pytest.approx((700 / 500) ** 0.25, rel=0.02)


def test_constants_are_less_certain_the_further_they_are_inherited():
    measured, sibling, unknown = (hardware.gpu(name).kernels.spread for name in ("a100", "a800", "tpu-v4"))
    assert measured < sibling < unknown


def test_the_best_product_of_a_precision_needs_its_peak():
    with pytest.raises(ValueError, match=r"give peak\.fp8 too"):
        replace(hardware.gpu("h100-sxm-80gb"), peak={"bf16": 989e12}, best_matmul={"fp8": 1e15})
