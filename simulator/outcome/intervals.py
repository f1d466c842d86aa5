"""How sure a step time is: its distribution and 80% interval, from the errors of comparable published runs."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from math import exp
from statistics import NormalDist
from typing import NamedTuple

from simulator import catalog
from simulator.outcome.step_error import HIGH, LOW, SURE, StepError
from simulator.scenario.scenario import Scenario
from simulator.units import Number, Seconds, Share

ARCHITECTURES = {
    "volta": "ampere-volta",
    "ampere": "ampere-volta",
    "hopper": "hopper-dense",
    "blackwell": "hopper-dense",
}
NVIDIAS = ("megatron", "nemo", "megatron-bridge")
"""Frameworks that NVIDIA tunes and publishes steps of; with others on its newer GPUs host and network show more."""
HOST_SPREAD: Number = 0.6
"""Standard deviation of ln(measured / predicted) of what hosts take for offloaded state, beyond the error of the step.

Users leave out what decides: cores, sockets, page-locked memory, version. Reports of one software stack imply 18 to 134
GB/s of host memory: over the prediction, 1.4 and 2.5 for Falcon-7B (DeepSpeed #3901), 0.8 and 0.8 for Qwen2.5-3B
(#7474), 0.8 for Qwen-72B (#6834) and 0.5 for CPU Adam alone (arXiv 2101.06840, table 4).
"""


class Interval(NamedTuple):
    """Measured over predicted step time: the 10th and 90th percentile."""

    low: Number
    high: Number
    kind: str


def interval(scenario: Scenario, parts: Mapping[str, Seconds]) -> Interval:
    """Return the interval of runs like this one whose step has these parts; a measured step is sure."""
    if scenario.training.step_time is not None or scenario.model is None:
        return Interval(1.0, 1.0, "measured")
    error = step_error(scenario, parts)
    return Interval(error.known(LOW), error.known(HIGH), comparable(scenario))


def step_error(scenario: Scenario, parts: Mapping[str, Seconds]) -> StepError:
    """Return the distribution that the interval is cut from: of runs like this one, wider by what is left to hosts."""
    if scenario.training.step_time is not None or scenario.model is None:
        return SURE
    seconds = sum(parts.values())
    return on_hosts(_classes()[comparable(scenario)], parts.get("offload", 0.0) / seconds if seconds > 0 else 0.0)


def on_hosts(error: StepError, share: Share) -> StepError:
    """Return the error of a step of which hosts take this share: their part is as far off as the rest, and wider.

    >>> on_hosts(StepError((0.1, 0.9), (0.9, 1.2)), 0.0).ratios
    (0.9, 1.2)
    """
    normal = NormalDist(sigma=HOST_SPREAD)
    wider = (1 + share * (exp(normal.inv_cdf(probability)) - 1) for probability in error.probabilities)
    return StepError(error.probabilities, tuple(r * w for r, w in zip(error.ratios, wider, strict=True)))


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
