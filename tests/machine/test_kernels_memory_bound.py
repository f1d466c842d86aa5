"""Memory-bound kernels: never faster than memory, and a start for each."""

from __future__ import annotations

import pytest

from simulator import catalog
from simulator.machine import hardware
from simulator.machine.kernels import elementwise, optimizer


@pytest.mark.parametrize("name", catalog.names("gpu"))
def test_memory_is_never_outrun(name: str):
    gpu = hardware.gpu(name)
    assert elementwise.time(gpu, 1e9) > 1e9 / gpu.memory_bandwidth
    assert optimizer.time(gpu, 1e9) > 1e9 / gpu.memory_bandwidth


def test_eager_kernels_stream_worse_than_fused_ones():
    gpu = hardware.gpu("h100")
    assert elementwise.time(gpu, 1e9, fused=False) > elementwise.time(gpu, 1e9)


def test_every_kernel_pays_its_start():
    gpu = hardware.gpu("h100")
    one, ten = elementwise.time(gpu, 1e6), elementwise.time(gpu, 1e6, kernels=10)
    assert ten - one == pytest.approx(9 * gpu.kernels.elementwise.start)


def test_a_large_residual_addition_takes_its_bytes_over_the_share():
    gpu = hardware.gpu("a100")
    delivered = gpu.kernels.elementwise.fused * gpu.memory_bandwidth
    assert elementwise.time(gpu, 2e11) == pytest.approx(2e11 / delivered, rel=1e-3)
