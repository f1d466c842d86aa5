"""What a user's own measurements change: factors on the network and on the rates of kernels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace

from simulator.engine.prices.constants import Shared, of_products
from simulator.machine import hardware
from simulator.machine.hardware import Gpu
from simulator.machine.kernels import gemm
from simulator.machine.network import NetworkCalibration
from simulator.scenario.calibration import Kernel
from simulator.scenario.scenario import Scenario


def of_network(scenario: Scenario) -> NetworkCalibration | None:
    """Return the factors on the network, where they were measured on this kind of host."""
    learned = scenario.measured("host")
    return learned.network if learned else None


def of_kernels(shared: Shared, scenario: Scenario) -> Shared:
    """Return `shared` with the factors that were measured on this GPU, and with this stack."""
    learned, stack = scenario.measured("gpu"), scenario.stack
    if learned is None:
        return shared
    factors = {group: dict(members) for group, members in shared.factors.items()}
    architecture = scenario.cluster.host.gpu.architecture
    for dtype, factor in learned.products.items():
        keys = of_products(architecture, dtype)
        factors.setdefault("products", {})[keys[0]] = shared.rate("products", *keys) * factor
    if learned.elementwise != 1:
        factors.setdefault("elementwise", {})["all"] = shared.rate("elementwise", "all") * learned.elementwise
    if learned.software != 1 and scenario.measured("stack"):
        key = f"{stack.framework} {stack.year}"
        factors.setdefault("software", {})[key] = shared.rate("software", key, stack.framework) * learned.software
    return Shared(factors)


def gpu_of(scenario: Scenario) -> Gpu:
    """Return the GPU of the scenario, with the constants of products that were measured on it."""
    gpu, learned = scenario.cluster.host.gpu, scenario.measured("gpu")
    return with_kernels(gpu, learned.kernels) if learned else gpu


def with_kernels(gpu: Gpu, kernels: Mapping[str, Kernel]) -> Gpu:
    """Return `gpu` with constants of products by precision."""
    if not kernels:
        return gpu
    known = gpu.kernels.gemm
    own = {dtype: replace(gemm.of_format(gpu, dtype), **asdict(kernel)) for dtype, kernel in kernels.items()}
    return hardware.calibrated(gpu, replace(gpu.kernels, gemm=replace(known, formats={**known.formats, **own})))
