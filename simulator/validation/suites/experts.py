"""Layers of experts on one rank: routing, permutation, grouped products, activation and the weighted sum as one time.

A row says how its benchmark routes (`distribution`, see `simulator.validation.expert_loads`), and by `op` whether the
rank routes all tokens of its group or only gets the rows that were dispatched to it.
"""

from __future__ import annotations

from typing import ClassVar

from simulator.machine.hardware import Gpu
from simulator.machine.kernels import experts
from simulator.validation.expert_layers import of_row
from simulator.validation.measured_product import regime_of
from simulator.validation.row import Row
from simulator.validation.suites.kernels import Answer, Kernels

GROUPS = ((512.0, "512 rows an expert and more"), (64.0, "64 to 511 rows an expert"), (0.0, "below 64 rows an expert"))
UNEVEN = "uneven"


class Experts(Kernels):
    kind: ClassVar[str] = "experts"
    prefix: ClassVar[str] = "experts"
    columns: ClassVar[frozenset[str]] = frozenset(
        {"gpu", "dtype", "tokens", "hidden", "inter", "top_k", "experts", "ep", "tp", "time_us"}
    )
    numbers: ClassVar[frozenset[str]] = frozenset(
        {"tokens", "hidden", "inter", "top_k", "experts", "slots", "ep", "tp", "gated", "local_tokens", "time_us"}
    )
    may_be_zero: ClassVar[frozenset[str]] = frozenset({"gated"})

    def answer(self, row: Row, gpu: Gpu) -> Answer:
        module, layer = of_row(gpu, row.text)
        when = regime_of(row.text("regime"))
        seconds = experts.time(gpu, layer, dtype=row.text("dtype"), module=module, regime=when)
        return Answer(*self.measurement(row), seconds * 1e6)

    def size_class(self, row: Row) -> str:
        if row.text("distribution") not in ("", "balanced"):
            return UNEVEN
        rows = (row.real("tokens") or 0) * (row.real("top_k") or 0) / (row.real("experts") or 1)
        return next(name for least, name in GROUPS if rows >= least)
