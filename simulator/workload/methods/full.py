"""Full training: every weight learns, unless `freeze` names it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from simulator.workload.methods.base import Method


@dataclass(frozen=True, kw_only=True)
class Full(Method):
    """Every weight learns that `training.freeze` does not name."""

    kind: ClassVar[str] = "full"
    trains_base: ClassVar[bool] = True
