"""All that a step depends on, and the constants that were learned from whole runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache

from simulator import catalog
from simulator.units import Number, Share
from simulator.workload.layout import Parallelism
from simulator.workload.model import Model
from simulator.workload.stack import Stack
from simulator.workload.training import Training


@dataclass(frozen=True)
class Inputs:
    """What is trained, with which software, and how it is split."""

    model: Model
    stack: Stack
    parallelism: Parallelism
    training: Training
    data: int
    microbatches: int
    imbalance: Number = 1.0


@dataclass(frozen=True)
class Shared:
    """Constants fitted on published runs, with prior, bounds and cause in ``calibration/shared.yaml``."""

    sustained: Mapping[str, Share] = field(default_factory=dict)
    """Rate of matrix products in a run over that of isolated kernels, by architecture and precision."""

    def sustained_rate(self, architecture: str, dtype: str) -> Share:
        for name in (f"{architecture} {dtype}", architecture, "other"):
            if name in self.sustained:
                return self.sustained[name]
        return 1.0


@cache
def shared() -> Shared:
    """Return the constants that ship."""
    entry = catalog.entry("calibration", "shared")
    return Shared(sustained={name: float(one["value"]) for name, one in entry["sustained"].items()})
