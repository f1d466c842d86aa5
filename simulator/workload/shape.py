"""The numbers that the operations of a layer depend on."""

from __future__ import annotations

from dataclasses import dataclass

from simulator.workload.layout import Parallelism
from simulator.workload.model import Model
from simulator.workload.stack import Stack
from simulator.workload.training import Training

LOW_PRECISION = ("fp8", "mxfp8", "nvfp4")


@dataclass(frozen=True)
class Shape:
    model: Model
    stack: Stack
    parallelism: Parallelism
    training: Training
    kernel: str
    """Attention kernel."""
    experts: bool = False
    window: int | None = None
    imbalance: float = 1.0
    capacity: float | None = None
    """Most tokens of an expert over the mean, to which it is padded."""

    @property
    def value_bytes(self) -> int:
        return 4 if self.training.precision.kind in ("fp32", "tf32") else 2

    @property
    def wide(self) -> str:
        """The number format of what fp8 recipes leave alone."""
        return "bf16" if self.training.precision.kind in LOW_PRECISION else self.training.precision.kind

    @property
    def queries(self) -> int:
        return self.training.sequence_length // self.parallelism.context.size

    @property
    def tokens(self) -> int:
        return self.training.microbatch * self.queries

    @property
    def scattered(self) -> float:
        """Tokens a rank holds between tensor-parallel regions."""
        return self.tokens / self.parallelism.tensor if self.parallelism.sequence else self.tokens

    @property
    def residual_bytes(self) -> float:
        return self.tokens * self.model.hidden * self.value_bytes
