"""What a row of a table of expert layers times: the module, and the layer on the measured rank."""

from __future__ import annotations

from collections.abc import Callable

from simulator.errors import ScenarioError
from simulator.machine.hardware import Gpu
from simulator.machine.kernels import experts
from simulator.machine.kernels.experts import Layer
from simulator.machine.kernels.experts_constants import DISPATCHED, WHOLE
from simulator.validation.expert_loads import of_rank

MODULES = {"experts": WHOLE, "experts of one rank": DISPATCHED}
"""What the column `op` says the time is of."""
SHAPE = ("hidden", "inter", "top_k", "experts", "slots", "ep", "tp", "gated", "tokens")
"""Columns of whole numbers."""
EMPTY = {"gated": "1"}
"""What an empty cell means; where `slots` is empty there are as many as experts."""


def of_row(gpu: Gpu, text: Callable[[str], str | None]) -> tuple[str, Layer]:
    """Return the module that a row times, and its layer; raises ScenarioError where a column cannot be read."""
    module = MODULES.get(text("op") or "experts")
    if module is None:
        raise ScenarioError(f"op: found {text('op')!r}, expected one of {', '.join(MODULES)}")
    try:
        hidden, inner, active, count, slots, ranks, tensor, gated, tokens = (
            int(float(text(name) or EMPTY.get(name) or text("experts") or "0")) for name in SHAPE
        )
        seen = float(text("local_tokens") or tokens)
    except ValueError as error:
        raise ScenarioError(f"a size of the layer is no number: {error}") from None
    if count % ranks or slots % ranks or active > count:
        raise ScenarioError(f"{count} experts, {active} of them a token, do not divide into {ranks} ranks")
    loads = of_rank(text("distribution") or "balanced", tokens, active, count, ranks, slots)
    walked = tokens * active if module == WHOLE and ranks > 1 else 0
    width = inner // tensor
    return module, experts.layer(
        gpu, loads, hidden=hidden, inner=width, gated=bool(gated), tokens=seen, walked=float(walked)
    )
