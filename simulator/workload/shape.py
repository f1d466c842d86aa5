"""The numbers that the operations of a layer depend on."""

from __future__ import annotations

from dataclasses import dataclass

from simulator.workload import gathering
from simulator.workload.layout import Context, Parallelism
from simulator.workload.model import Model
from simulator.workload.stack import Dtype, Stack
from simulator.workload.training import Precision, Recompute, Training

LOW_PRECISION = ("fp8", "mxfp8", "nvfp4")


@dataclass(frozen=True)
class Shape:
    """Nothing else of layout and training changes a layer, so that those alike in this are priced once."""

    model: Model
    stack: Stack
    tensor: int
    context: Context
    expert: int
    expert_tensor: int
    sequence: bool
    """Whether norms and residuals are split over the tensor axis."""
    reduced: bool
    """Whether gradients are reduced after every microbatch, instead of added up."""
    sequence_length: int
    microbatch: int
    precision: Precision
    recompute: Recompute
    gradients: Dtype
    """Number format that gradients are added up in."""
    kernel: str
    """Attention kernel."""
    experts: bool = False
    window: int | None = None
    imbalance: float = 1.0
    capacity: float | None = None
    """Most tokens of an expert over the mean, to which it is padded."""

    @classmethod
    def of(
        cls,
        model: Model,
        stack: Stack,
        parallelism: Parallelism,
        training: Training,
        kernel: str,
        *,
        experts: bool = False,
        imbalance: float = 1.0,
        capacity: float | None = None,
    ) -> Shape:
        """Return what matters of a layout and a training to a layer."""
        return cls(
            model,
            stack,
            parallelism.tensor,
            parallelism.context,
            parallelism.expert,
            parallelism.expert_tensor,
            parallelism.sequence,
            gathering.every_microbatch(stack, parallelism),
            training.sequence_length,
            training.microbatch,
            training.precision,
            training.recompute,
            training.states.gradients,
            kernel,
            experts,
            imbalance=imbalance,
            capacity=capacity,
        )

    @property
    def value_bytes(self) -> int:
        return 4 if self.precision.kind in ("fp32", "tf32") else 2

    @property
    def wide(self) -> str:
        """The number format of what fp8 recipes leave alone."""
        return "bf16" if self.precision.kind in LOW_PRECISION else self.precision.kind

    @property
    def queries(self) -> int:
        return self.sequence_length // self.context.size

    @property
    def tokens(self) -> int:
        return self.microbatch * self.queries

    @property
    def scattered(self) -> float:
        """Tokens a rank holds between tensor-parallel regions."""
        return self.tokens / self.tensor if self.sequence else self.tokens

    @property
    def residual_bytes(self) -> float:
        return self.tokens * self.model.hidden * self.value_bytes


def squares(model: Model, parallelism: Parallelism, training: Training) -> float:
    """Return the squares of scores that one attention of a rank works on: one for each sequence and head."""
    return training.microbatch * model.heads / parallelism.tensor
