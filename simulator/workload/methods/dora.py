"""DoRA: LoRA with a learned magnitude for each output (Liu et al., 2024, arXiv 2402.09353)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from simulator.workload.methods.lora import Lora


@dataclass(frozen=True, kw_only=True)
class Dora(Lora):
    """LoRA whose sum is brought to a learned magnitude per output, over the norm of W + (alpha / rank) B A."""

    kind: ClassVar[str] = "dora"
    weighted: ClassVar[bool] = True
