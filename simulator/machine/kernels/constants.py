"""The measured constants of a GPU's kernels, from the catalog, inherited where a GPU was never measured."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from simulator.machine.hardware import Gpu


@dataclass(frozen=True, kw_only=True)
class KernelConstants:
    """Placeholder until the tables are in."""


def kernel_constants(gpu: Gpu) -> KernelConstants:
    """Return the constants of `gpu`."""
    return KernelConstants()
