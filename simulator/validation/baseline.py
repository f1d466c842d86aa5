"""The rival that any prediction has to beat: one constant MFU for each GPU generation and width of number.

A step takes its model FLOPs (6N + causal attention) over peak x MFU. The constant is the median over families of their
median MFU, on the very rows that are scored, which no planner would know: so it is a strict rival.
"""

from __future__ import annotations

from collections.abc import Iterable
from statistics import median
from typing import TYPE_CHECKING

from simulator.units import Seconds, Share
from simulator.validation.lines import Line

if TYPE_CHECKING:
    from simulator.scenario import Scenario

NARROW = {"fp8": "fp8", "mxfp8": "fp8", "nvfp4": "fp4"}
"""Formats of 8 bits or fewer -> the arithmetic they run on."""


def ideal(scenario: Scenario) -> Seconds | None:
    """Return the time of a step at the peak of the format it runs in; None if the GPU has no peak for it."""
    from simulator.workload.flops import trained_flops_per_token

    training, peaks = scenario.training, dict(scenario.cluster.host.gpu.peak)
    kind = training.precision.kind
    peak = peaks.get(kind) or peaks.get(NARROW.get(kind, ""))
    if scenario.model is None or not peak:
        return None
    work = trained_flops_per_token(scenario.model, training.tuning, training.sequence_length, "causal")
    return work * training.sequence_length * training.global_batch / (scenario.gpus * peak)


def generation(scenario: Scenario) -> str:
    """Return the rows that share a constant: GPU architecture, and whether GEMMs run in 8 bits or fewer."""
    width = "8 bit or fewer" if scenario.training.precision.kind in NARROW else "16 bit or more"
    return f"{scenario.cluster.host.gpu.architecture}, {width}"


def constants(lines: Iterable[Line]) -> dict[str, Share]:
    """Return the MFU of each generation: families count alike, whatever their number of rows."""
    reached: dict[str, dict[str, list[float]]] = {}
    for line in rivals(lines):
        of_family = reached.setdefault(line.generation, {}).setdefault(line.family, [])
        of_family.append(line.ideal / line.measured)  # type: ignore[operator]
    return {name: median(map(median, families.values())) for name, families in sorted(reached.items())}


def rivals(lines: Iterable[Line]) -> tuple[Line, ...]:
    """Return the lines that the baseline can predict as well."""
    return tuple(line for line in lines if line.ideal and line.measured and line.scored)


def predicted(line: Line, mfu: dict[str, Share]) -> Seconds:
    """Return the step time at the constant of its generation."""
    assert line.ideal is not None
    return line.ideal / mfu[line.generation]
