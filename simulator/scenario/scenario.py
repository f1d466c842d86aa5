"""A scenario, read and complete: every default filled in, every name looked up."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from simulator.reliability.checkpointing.base import CheckpointPolicy
from simulator.reliability.fleet import Failures
from simulator.reliability.recovery.base import Recovery
from simulator.scenario.calibration import Calibration
from simulator.scenario.cluster import Cluster
from simulator.scenario.jitter import Jitter
from simulator.scenario.moe import Moe
from simulator.scenario.prices import Prices
from simulator.scenario.reading import Assumption
from simulator.scenario.targets import Targets
from simulator.workload.layout import Parallelism
from simulator.workload.model import Model
from simulator.workload.stack import Stack
from simulator.workload.training import Training


@dataclass(frozen=True, kw_only=True)
class Scenario:
    version: int
    name: str
    source: str | None
    expect: dict[str, dict[str, float]]
    """Dotted key of the result -> ``value`` and ``within``, ``at_least``, ``at_most``."""
    model: Model | None
    """None where the step was measured and no model given."""
    model_name: str
    cluster: Cluster
    stack: Stack
    stack_name: str
    parallelism: Parallelism | None
    training: Training
    moe: Moe
    jitter: Jitter
    targets: Targets
    failures: Failures
    checkpoint: CheckpointPolicy
    recovery: Recovery
    prices: Prices
    search: dict[str, tuple[Any, ...]]
    """The axes that `layouts` tries, where they are given."""
    calibration: Calibration | None
    runs: int
    seed: int
    assumptions: tuple[Assumption, ...] = field(default=(), compare=False)
    warnings: tuple[str, ...] = field(default=(), compare=False)
    resolved: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)
    """The scenario as plain data, every default filled in; ``from_dict`` reads it back."""

    @property
    def gpus_per_host(self) -> int:
        return self.cluster.host.gpus

    @property
    def gpus(self) -> int:
        """GPUs that train; those of spares are not among them."""
        return self.cluster.hosts * self.gpus_per_host

    @property
    def data(self) -> int:
        """Replicas that see different data: gpus / (tensor x pipeline x context)."""
        if self.parallelism is None:
            return self.gpus
        return self.gpus // (self.parallelism.tensor * self.parallelism.pipeline * self.parallelism.context.size)

    @property
    def microbatches(self) -> int:
        """Microbatches of one replica in a step: global batch / (data x microbatch)."""
        return self.training.global_batch // (self.data * self.training.microbatch)
