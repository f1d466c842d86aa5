"""A scenario, read and complete: every default filled in, every name looked up."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from simulator.machine.domains import mapped
from simulator.machine.kernels import attention
from simulator.reliability.checkpointing.base import CheckpointPolicy
from simulator.reliability.fleet import Failures
from simulator.reliability.recovery.base import Recovery
from simulator.scenario.calibration import Calibration
from simulator.scenario.cluster import Cluster
from simulator.scenario.jitter import Jitter
from simulator.scenario.prices import Prices
from simulator.scenario.reading import Assumption
from simulator.scenario.targets import Targets
from simulator.workload.capacity import Moe
from simulator.workload.layout import Parallelism
from simulator.workload.model import Model
from simulator.workload.rank import Rank
from simulator.workload.replica import Replica
from simulator.workload.stack import Stack
from simulator.workload.training import Training


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """A scenario as it was read: sections as objects, in SI units, every default filled in and every name looked up."""

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
    written: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)
    """What was written, changes included, before any default was filled in; every scalar is text."""
    files: tuple[tuple[str, str], ...] = field(default=(), compare=False)
    """Name, as the scenario gives it, and SHA-256 of every file that was opened to read it, sorted."""
    folder: Path = field(default=Path(), compare=False)
    """Files that the scenario names are looked for here."""

    def measured(self, part: str) -> Calibration | None:
        """Return the calibration, where its factors of `part`, gpu, host or stack, are those of this scenario."""
        learned = self.calibration
        if learned is None:
            return None
        gpu = learned.gpu in ("", self.cluster.host.gpu.name)
        holds = {
            "gpu": gpu,
            "stack": gpu and learned.stack in ("", self.stack_name),
            "host": learned.host in ("", self.cluster.host_name),
        }
        return learned if holds[part] else None

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

    @cached_property
    def even(self) -> Scenario:
        """The scenario with sequences of one length, whose microbatches cost what those of this one do in the mean."""
        drawn = self.training.shapes
        return self.alike(float(drawn.tokens.mean()), float(drawn.squares.mean())) if drawn else self

    @cached_property
    def longest(self) -> Scenario:
        """The scenario with all microbatches as long as the longest one drawn, which sets the peak of memory."""
        drawn = self.training.shapes
        if drawn is None:
            return self
        most = int(drawn.tokens.argmax())
        return self.alike(float(drawn.tokens[most]), float(drawn.squares[most]))

    def alike(self, tokens: float, squares: float) -> Scenario:
        """Return the scenario with microbatches of so many tokens and squared lengths, of sequences of one length.

        Sequences of squares / tokens tokens have the same of both; their number is rounded, and so is their length, to
        what the axes that split it can divide.
        """
        split = self.parallelism
        parts = split.context.size * (split.tensor if split.sequence else 1) if split else 1
        number = max(round(tokens**2 / squares), 1)
        length = max(round(tokens / number / parts), 1) * parts
        batch = number * self.data * self.microbatches
        training = replace(
            self.training, sequence_length=length, microbatch=number, global_batch=batch, data=None, phases=()
        )
        return replace(self, training=training)

    @property
    def ring_is_cut(self) -> bool:
        """Whether products of a tensor group would have to be cut for an exchange over links that cannot map memory."""
        tensor = self.parallelism.tensor if self.parallelism else 1
        cluster = self.cluster
        return self.stack.async_tensor == "ring" and tensor > mapped(cluster.host, cluster.topology, self.gpus)

    @cached_property
    def rank(self) -> Rank:
        """What one rank is, with what the machine can do of the stack: a kernel of attention that was never written for
        the GPU is its best one, and exchanges beside the product that needs them stay inside a scale-up domain."""
        assert self.model is not None
        assert self.parallelism is not None
        gpu = self.cluster.host.gpu
        stack = replace(self.stack, async_tensor="bulk") if self.ring_is_cut else self.stack
        rank = Rank.of(self.model, stack, self.parallelism, self.training, data=self.data, moe=self.moe)
        known = rank.keeps_scores or rank.kernel in gpu.kernels.attention
        return rank if known else replace(rank, kernel=attention.newest(gpu))

    @cached_property
    def replica(self) -> Replica:
        """The ranks that see the same data, and what they do in a step."""
        assert self.parallelism is not None
        return Replica.of(self.rank, self.parallelism, self.training, self.microbatches)

    @property
    def microbatches(self) -> int:
        """Microbatches of one replica in a step: global batch / (data x microbatch)."""
        return self.training.global_batch // (self.data * self.training.microbatch)
