"""What the optimizer sees: tokens, batches, precision, recompute, states."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from simulator.units import Count, Seconds, Share
from simulator.workload.data import Data, Shapes, shapes
from simulator.workload.methods.base import Method
from simulator.workload.methods.full import Full
from simulator.workload.optimizers.adamw import AdamW
from simulator.workload.optimizers.base import Optimizer
from simulator.workload.stack import States
from simulator.workload.tuning import Tuning

Module = Literal["core_attention", "mla_up", "layernorm", "mlp", "moe", "moe_activation", "shared_experts"]
PrecisionKind = Literal["fp32", "tf32", "fp16", "bf16", "fp8", "mxfp8", "nvfp4"]


@dataclass(frozen=True, kw_only=True)
class Precision:
    kind: PrecisionKind = "bf16"
    """Number format of matrix products; a name alone is short for it."""
    scaling: Literal["delayed", "current", "block"] = "delayed"
    """Where the scales of fp8 come from: earlier steps, the values themselves, or blocks of them."""
    skipped_steps: Share = 0.0
    """Share of steps that dynamic loss scaling throws away."""

    @property
    def products(self) -> str:
        """The format that kernels multiply in: fp8 with scales by blocks is one of its own."""
        return "fp8-block" if self.kind == "fp8" and self.scaling == "block" else self.kind


@dataclass(frozen=True, kw_only=True)
class Recompute:
    kind: Literal["none", "selective", "full", "sqrt"] = "none"
    """What is computed again for the backward: nothing, what the stack means by `selective`, whole layers, or segments
    of sqrt(layers)."""
    layers: Count | None = None
    """Layers a stage to which it applies; all where left out."""
    modules: tuple[Module, ...] = ()
    """With `selective`, these modules only: the core of attention, the up-projections of latent attention, all norms
    ahead of blocks (`layernorm`), dense MLPs, the whole of an expert layer (`moe`), or of that the activation or the
    shared experts."""


@dataclass(frozen=True, kw_only=True)
class Offload:
    parameters: Share = 0.0
    """Share of the weights."""
    optimizer: Share = 0.0
    """Share of the optimizer state, which is updated there."""
    activations: Share = 0.0
    """Share of what layers keep for their backward."""
    to: Literal["cpu", "nvme"] = "cpu"
    """Memory of the host, or drives, which are not modelled."""


@dataclass(frozen=True, kw_only=True)
class Phase:
    tokens: Count
    """Tokens of the phase."""
    global_batch: Count
    """Sequences a step."""
    sequence_length: Count | None = None
    """Tokens a sequence; as in `training` where left out."""


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    every: Count
    """Steps between evaluations."""
    time: Seconds
    """How long training waits for one."""


@dataclass(frozen=True, kw_only=True)
class Training:
    tokens: Count | None = None
    """Tokens to train on."""
    steps: Count | None = None
    """Optimizer steps."""
    duration: Seconds | None = None
    """Exactly one of tokens, steps and duration (of useful work); the reader sees to it."""
    sequence_length: Count = 2048
    """Tokens a sequence."""
    global_batch: Count = 1
    """Sequences a step."""
    microbatch: Count = 1
    """Sequences a microbatch and replica."""
    precision: Precision = field(default_factory=Precision)
    """Number format, or `{kind, scaling, skipped_steps}`."""
    method: Method = field(default_factory=Full)
    """Which weights learn: all (`full`), or adapters beside frozen ones (`lora`, `qlora`, `dora`)."""
    freeze: tuple[str, ...] = ()
    """Parts that do not learn: `embedding`, `head`, `layers 0-11`. Frozen layers have no adapters either."""
    optimizer: Optimizer = field(default_factory=AdamW)
    """Decides how much state a parameter has, and what updating it takes."""
    recompute: Recompute = field(default_factory=Recompute)
    """What is computed again instead of kept, or `{kind, layers, modules}`; the stack's where left out."""
    states: States = field(default_factory=States)
    """Resolved by the reader: the scenario's, else the stack's."""
    offload: Offload | None = None
    """What is kept on the host; nothing where left out."""
    data_stall: Seconds | None = None
    """Time that every step waits for data; `data_stall_share` is a share of the step instead."""
    data_stall_share: Share | None = None
    data: Data | None = None
    """How long samples are and how they are packed; every sequence has `sequence_length` tokens where left out."""
    phases: tuple[Phase, ...] = ()
    """Batches and sequences that the run begins with; what they leave of it is done as the other keys say."""
    evaluation: Evaluation | None = None
    """Pauses for evaluation."""
    step_time: Seconds | None = None
    """A measured step; then the step is not simulated."""

    @property
    def shapes(self) -> Shapes | None:
        """The microbatches that samples of uneven length make; None where all sequences have the same length."""
        return shapes(self.data, self.sequence_length, self.microbatch) if self.data else None

    @property
    def step_tokens(self) -> float:
        """Tokens that a step trains on, without padding."""
        tokens = self.global_batch * self.sequence_length
        if (drawn := self.shapes) is None:
            return tokens
        return self.global_batch / self.microbatch * float(drawn.real.mean())

    @property
    def attended(self) -> int:
        """The length of sequences whose attention costs a token as much as here, without padding."""
        if (drawn := self.shapes) is None:
            return self.sequence_length
        return max(round(float(drawn.real_squares.sum() / drawn.real.sum())), 1)

    @property
    def tuning(self) -> Tuning:
        """What of the model learns."""
        return Tuning(method=self.method, freeze=self.freeze)
