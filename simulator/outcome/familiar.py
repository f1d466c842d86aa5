"""What a scenario is made of, in the words that measured runs are counted by: software, accelerator, features, size."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from simulator import catalog
from simulator.scenario.scenario import Scenario
from simulator.units import Count

if TYPE_CHECKING:
    from simulator.machine.hardware import Gpu

SIXTEEN_BITS = ("fp16", "bf16")
"""Formats of the same width and rate, which count as one."""
PLAIN_SHARDS = ("none", "optimizer")
PLAIN_SCHEDULES = ("1f1b", "gpipe")


class Facts(NamedTuple):
    """What decides whether runs like this one were ever measured."""

    stack: str
    """Entry of the catalog, or the one that inline keys change."""
    framework: str
    gpu: str
    """Entry of the catalog; empty where the scenario describes another one."""
    architecture: str
    vendor: str
    """Empty where no entry of the catalog has the architecture."""
    features: frozenset[str]
    sequence: Count
    hosts: Count


def facts(scenario: Scenario) -> Facts:
    """Return what a scenario is made of."""
    gpu = scenario.cluster.host.gpu
    return Facts(
        stack=scenario.stack_name,
        framework=scenario.stack.framework,
        gpu=_entry(scenario),
        architecture=gpu.architecture,
        vendor=_vendors().get(gpu.architecture, ""),
        features=frozenset(_features(scenario)),
        sequence=scenario.training.sequence_length,
        hosts=scenario.cluster.hosts,
    )


def _entry(scenario: Scenario) -> str:
    """Return the entry whose memory bandwidth and peaks the GPU has, all within 1%."""
    gpu = scenario.cluster.host.gpu
    known, figures = _figures().get(gpu.name, {}), _rates(gpu)
    alike = known.keys() == figures.keys() and all(abs(figures[of] - rate) <= 0.01 * rate for of, rate in known.items())
    return gpu.name if alike else ""


def _rates(gpu: Gpu) -> dict[str, float]:
    """Return what the time of a kernel follows from."""
    return {"memory": gpu.memory_bandwidth, **gpu.peak}


@cache
def _figures() -> dict[str, dict[str, float]]:
    """Return the rates of every GPU that ships."""
    from simulator.machine.hardware import Gpu
    from simulator.scenario.derive import build
    from simulator.scenario.document import placed
    from simulator.scenario.mistakes import Mistakes
    from simulator.scenario.shape import shape

    found = {}
    for name in catalog.names("gpu"):
        entry = catalog.entry("gpu", name)
        known = {key: value for key, value in entry.items() if key in Gpu.__dataclass_fields__}
        gpu = build(shape(Gpu), placed(known, None), ("gpu",), Mistakes())
        found[name] = _rates(gpu)
    return found


@cache
def _vendors() -> dict[str, str]:
    entries = [catalog.entry("gpu", name) for name in catalog.names("gpu")]
    return {str(entry["architecture"]): str(entry["vendor"]) for entry in entries}


def _features(scenario: Scenario) -> list[str]:
    """Return formats, experts, sharding and switches of a layout that runs exercise or do not."""
    training, layout, model = scenario.training, scenario.parallelism, scenario.model
    kind = training.precision.kind
    found = ["16-bit products" if kind in SIXTEEN_BITS else f"{kind} products"]
    if model is not None and model.experts is not None:
        found.append("experts")
    optimizer = getattr(training.optimizer, "kind", "of your own")
    if optimizer not in ("adamw", "sgd"):
        found.append(f"optimizer {optimizer}")
    if training.offload is not None:
        found.append("offload")
    if layout is not None:
        found += [f"sharded {layout.shard.level}"] if layout.shard.level not in PLAIN_SHARDS else []
        found += [f"{layout.context.kind} context parallelism"] if layout.context.size > 1 else []
        pipelined = layout.pipeline > 1 and layout.schedule.kind not in PLAIN_SCHEDULES
        found += [f"schedule {layout.schedule.kind}"] if pipelined else []
    return found
