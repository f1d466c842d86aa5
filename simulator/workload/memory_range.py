"""How far off the peak of a stage may be: switches of the stack that nobody stated, and the spread of a profile."""

from __future__ import annotations

from dataclasses import replace
from math import sqrt
from typing import Any

from simulator.units import Bytes
from simulator.workload.holdings import Holding
from simulator.workload.stage_peak import peak
from simulator.workload.stages import Case, Content


def between(case: Case, held: tuple[Content, ...], moments: tuple[Holding, ...], nbytes: Bytes) -> tuple[Bytes, Bytes]:
    """Return the range around a peak of `nbytes`.

    Each switch that is not known is set the other way; switches are independent, so their effects add as squares,
    down and up apart. The spread of a known profile widens either end.
    """
    down = up = 0.0
    for other in _alternatives(case):
        change = sum(peak(other, held, moments).values()) - nbytes
        if change < 0:
            down += change**2
        else:
            up += change**2
    spread = case.stack.memory_spread
    return max(nbytes - sqrt(down), 0.0) * (1 - spread), (nbytes + sqrt(up)) * (1 + spread)


def _alternatives(case: Case) -> list[Case]:
    """Return the case with each unknown switch set the other way."""
    stack, training = case.stack, case.training
    cases: list[Case] = []
    for switch in stack.unsure:
        if switch == "gradients":
            gradients: Any = "bf16" if training.states.gradients == "fp32" else "fp32"
            states = replace(training.states, gradients=gradients)
            cases.append(case._replace(training=replace(training, states=states)))
        elif switch == "loss":
            cases += [case._replace(stack=replace(stack, loss_bytes=nbytes)) for nbytes in (4.0, 16.1)]
        elif switch == "saved_gathers":
            cases.append(case._replace(stack=replace(stack, saved_gathers=not stack.saved_gathers)))
        else:
            other: dict[str, Any] = {switch: "eager" if getattr(stack, switch) == "fused" else "fused"}
            cases.append(case._replace(stack=replace(stack, **other)))
    return cases
