"""Parts of a calibration that were measured on something else."""

from __future__ import annotations

from collections.abc import Iterator

from simulator.machine.network import NetworkCalibration
from simulator.scenario.scenario import Scenario


def warnings(scenario: Scenario) -> Iterator[str]:
    """Yield a warning for each part of the calibration that belongs to something else."""
    learned = scenario.calibration
    if learned is None:
        return
    kernels = bool(learned.products) or learned.elementwise != 1
    parts = {
        "gpu": (kernels, learned.gpu, scenario.cluster.host.gpu.name),
        "stack": (learned.software != 1, " on ".join(filter(None, (learned.stack, learned.gpu))), scenario.stack_name),
        "host": (learned.network != NetworkCalibration(), learned.host, scenario.cluster.host_name),
    }
    for part, (says, measured, here) in parts.items():
        if says and not scenario.measured(part):
            yield f"calibration: was measured on {measured}, not on {here}; its factors of the {part} are not applied"
