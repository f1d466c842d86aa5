"""Muon: the momentum of a matrix is orthogonalized by Newton-Schulz iterations (Liu et al., 2025, arXiv 2502.16982)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from simulator.units import Bytes
from simulator.workload.model import Model
from simulator.workload.optimizers.base import Optimizer


@dataclass(frozen=True, kw_only=True)
class Muon(Optimizer):
    """One average for matrices inside the layers, Adam's two for embeddings and head."""

    kind: ClassVar[str] = "muon"
    warning: ClassVar[str] = (
        "the products and gathers of muon's Newton-Schulz iteration are not modelled, only its smaller state; "
        "published steps are from 2% longer than with adamw, so this one is too short"
    )

    def moments(self, model: Model, width: Bytes, *, end: bool) -> Bytes:
        return 2 * width if end else width
