"""What a user's own measurements change: factors on the network and on the rates of kernels."""

from __future__ import annotations

from simulator.engine.prices.constants import Shared, of_products
from simulator.machine.network import NetworkCalibration
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
