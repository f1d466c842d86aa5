"""How sure a step time is: its distribution and 80% interval, from the errors of comparable published runs."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from simulator import catalog
from simulator.outcome.step_error import HIGH, LOW, SURE, StepError
from simulator.scenario.scenario import Scenario
from simulator.units import Number

ARCHITECTURES = {
    "volta": "ampere-volta",
    "ampere": "ampere-volta",
    "hopper": "hopper-dense",
    "blackwell": "hopper-dense",
}
NVIDIAS = ("megatron", "nemo", "megatron-bridge")
"""Frameworks that NVIDIA tunes and publishes steps of; with others on its newer GPUs host and network show more."""


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
    error = _classes()[kind]
    return Interval(error.known(LOW), error.known(HIGH), kind)


def step_error(scenario: Scenario) -> StepError:
    """Return the distribution that the interval is cut from."""
    if scenario.training.step_time is not None or scenario.model is None:
        return SURE
    return _classes()[comparable(scenario)]


def comparable(scenario: Scenario) -> str:
    """Return the class of published runs that a scenario is like: by experts, sharding, GPU architecture, framework."""
    assert scenario.model is not None
    if scenario.model.experts is not None:
        return "experts"
    architecture = ARCHITECTURES.get(scenario.cluster.host.gpu.architecture, "other")
    if scenario.parallelism and scenario.parallelism.shard.level == "parameters" and architecture != "other":
        return "fsdp"
    return "nvidia-dense" if architecture == "hopper-dense" and scenario.stack.framework in NVIDIAS else architecture


@cache
def _classes() -> dict[str, StepError]:
    entry = catalog.entry("calibration", "residuals")
    probabilities = tuple(map(float, entry["probabilities"]))
    return {name: StepError(probabilities, tuple(map(float, one["ratios"]))) for name, one in entry["classes"].items()}
