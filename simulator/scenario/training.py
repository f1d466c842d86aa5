"""The `training` section; states and recompute follow from the stack where they are left out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields as fields_of
from dataclasses import replace
from typing import Any, get_type_hints

from simulator import units
from simulator.scenario.altered import altered, given
from simulator.units import Seconds, Share
from simulator.workload.stack import Stack, States
from simulator.workload.training import Recompute, Training

_STATES = get_type_hints(States, include_extras=True)
TrainingSection: Any = altered(
    Training,
    without=("data_stall_share",),
    states=altered(States, **_STATES),
    recompute=Recompute,
    data_stall=Seconds | Share,
)


def resolve(section: Any, data: Mapping[str, Any], stack: Stack) -> Training:
    """Return the training that `section` and the stack describe; `data` is what was written."""
    fields = given(section, data)
    states = fields.pop("states", None)
    chosen = {f.name: getattr(states, f.name) for f in fields_of(States) if getattr(states, f.name, None) is not None}
    fields["states"] = replace(_states(section.precision.kind, stack), **chosen)
    fields.setdefault("recompute", Recompute(kind=stack.recompute))
    if "data_stall" in fields and not _is_time(str(data["data_stall"])):
        fields["data_stall_share"] = fields.pop("data_stall")
    if section.tokens is None and section.phases and section.steps is None and section.duration is None:
        fields["tokens"] = sum(phase.tokens for phase in section.phases)
    return Training(**fields)


def _states(precision: str, stack: Stack) -> States:
    """Return the stack's states; in single precision the weights are their own master copy."""
    if precision in ("fp32", "tf32"):
        return replace(stack.states, weights="fp32", gradients="fp32", master="none")
    return stack.states


def _is_time(text: str) -> bool:
    try:
        units.parse(text, "s")
    except ValueError:
        return False
    return True
