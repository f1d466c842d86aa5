"""LoRA: W x + (alpha / rank) B A x, with W frozen (Hu et al., 2021, arXiv 2106.09685)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from simulator.units import Count, Number, Share
from simulator.workload.methods.base import Adapter, End, Format, Linear, Method, chosen


@dataclass(frozen=True, kw_only=True)
class Lora(Method):
    """Two thin matrices learn beside each matrix that `targets` names; the model itself is frozen."""

    kind: ClassVar[str] = "lora"
    weighted: ClassVar[bool] = False

    rank: Count = 8
    """Inner width of the adapters."""
    alpha: Number = 16.0
    """What adapters add is scaled by alpha / rank; it takes no time and no memory."""
    targets: tuple[str, ...] = ("q_proj", "v_proj")
    """Matrices with adapters: `q_proj`, `linear_qkv` and the like, or `attention`, `mlp`, `all-linear`."""
    dropout: Share = 0.0
    """Share of an adapter's inputs dropped in training. Each adapter then saves a copy of its own of its input."""
    base: Format = "bf16"
    """Format of the frozen matrices inside layers."""
    modules_to_save: tuple[End, ...] = ()
    """Ends of the model that are trained whole beside the adapters, and saved with them."""

    @property
    def stored(self) -> Format | None:
        return None if self.base == "bf16" else self.base

    @property
    def whole(self) -> tuple[End, ...]:
        return self.modules_to_save

    @property
    def named(self) -> tuple[str, ...]:
        return self.targets

    def adapters(self, linear: Linear) -> tuple[Adapter, ...]:
        """Return an adapter for each matrix of a product, or for those together that a target names together."""
        found = []
        for group in chosen(linear, self.targets):
            outs = sum(matrix.outs for matrix in group)
            division = group[0].division if len(group) == 1 else "tensor"
            name = "_".join(matrix.name for matrix in group)
            sizes = group[0].ins, outs, self.rank, self.dropout
            found.append(Adapter(f"{name}_adapter", *sizes, division, linear.row, outs / linear.outs, self.weighted))
        return tuple(found)
