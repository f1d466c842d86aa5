"""How sure a step time is: 80% intervals from the errors of comparable published runs."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from simulator import catalog
from simulator.scenario.scenario import Scenario
from simulator.units import Number

ARCHITECTURES = {
    "volta": "ampere-volta",
    "ampere": "ampere-volta",
    "hopper": "nvidia-dense",
    "blackwell": "nvidia-dense",
}


class Interval(NamedTuple):
    """Measured over predicted step time: the 10th and 90th percentile."""

    low: Number
    high: Number
    kind: str


def interval(scenario: Scenario) -> Interval:
    """Return the interval of runs like this one; a measured step is sure."""
    if scenario.training.step_time is not None or scenario.model is None:
        return Interval(1.0, 1.0, "measured")
    kind = comparable(scenario)
    low, high = _classes()[kind]
    return Interval(low, high, kind)


def comparable(scenario: Scenario) -> str:
    """Return the class of published runs that a scenario is like: by experts, sharding, GPU architecture."""
    assert scenario.model is not None
    if scenario.model.experts is not None:
        return "experts"
    architecture = ARCHITECTURES.get(scenario.cluster.host.gpu.architecture, "other")
    if scenario.parallelism and scenario.parallelism.shard.level == "parameters" and architecture != "other":
        return "fsdp"
    return architecture


@cache
def _classes() -> dict[str, tuple[float, float]]:
    classes = catalog.entry("calibration", "residuals")["classes"]
    return {name: (float(entry["low"]), float(entry["high"])) for name, entry in classes.items()}
