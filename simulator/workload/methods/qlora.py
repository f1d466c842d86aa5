"""QLoRA: LoRA over frozen weights of four or eight bits (Dettmers et al., 2023, arXiv 2305.14314).

Each product first writes its weights in 16 bits again, in every pass, so that the formats save memory and no time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from simulator.workload.methods.base import Format
from simulator.workload.methods.lora import Lora


@dataclass(frozen=True, kw_only=True)
class Qlora(Lora):
    """LoRA whose frozen matrices are quantised; embedding, head and norms are not."""

    kind: ClassVar[str] = "qlora"

    base: Format = "nf4"
    """Format of the frozen matrices inside layers, which every pass brings back to 16 bits."""
