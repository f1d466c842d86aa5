"""What the optimizer sees: tokens, batches, precision, recompute, states."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from simulator.units import Count, Seconds, Share
from simulator.workload.stack import States

PrecisionKind = Literal["fp32", "tf32", "fp16", "bf16", "fp8", "mxfp8", "nvfp4"]


@dataclass(frozen=True, kw_only=True)
class Precision:
    kind: PrecisionKind = "bf16"
    scaling: Literal["delayed", "current", "block"] = "delayed"
    skipped_steps: Share = 0.0
    """Share of steps that dynamic loss scaling throws away."""


@dataclass(frozen=True, kw_only=True)
class Recompute:
    kind: Literal["none", "selective", "full", "sqrt"] = "none"
    layers: Count | None = None
    """Layers a stage to which it applies; all where left out."""
    modules: tuple[Literal["core_attention", "mla_up", "moe_activation"], ...] = ()


@dataclass(frozen=True, kw_only=True)
class Offload:
    parameters: Share = 0.0
    optimizer: Share = 0.0
    activations: Share = 0.0
    to: Literal["cpu", "nvme"] = "cpu"


@dataclass(frozen=True, kw_only=True)
class Phase:
    tokens: Count
    global_batch: Count
    sequence_length: Count | None = None


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    every: Count
    """Steps between evaluations."""
    time: Seconds


@dataclass(frozen=True, kw_only=True)
class Training:
    tokens: Count | None = None
    steps: Count | None = None
    duration: Seconds | None = None
    """Exactly one of tokens, steps and duration (of useful work); the reader sees to it."""
    sequence_length: Count = 2048
    global_batch: Count = 1
    """Sequences a step."""
    microbatch: Count = 1
    """Sequences a microbatch and replica."""
    precision: Precision = field(default_factory=Precision)
    optimizer: Literal["adamw", "adam-8bit", "lion", "sgd", "adafactor", "muon"] = "adamw"
    recompute: Recompute = field(default_factory=Recompute)
    states: States = field(default_factory=States)
    """Resolved by the reader: the scenario's, else the stack's."""
    offload: Offload | None = None
    data_stall: Seconds | None = None
    data_stall_share: Share | None = None
    phases: tuple[Phase, ...] = ()
    evaluation: Evaluation | None = None
    step_time: Seconds | None = None
    """A measured step; then the step is not simulated."""
