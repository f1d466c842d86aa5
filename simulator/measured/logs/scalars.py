"""Scalars as exported from TensorBoard: ``{"iteration-time": {"values": {"1": 8.1, ...}}, ...}``, one JSON document.

The names are Megatron-LM's; ``nan`` stands where a step was not logged.
"""

from __future__ import annotations

import json
from typing import Any

from simulator.measured.iteration import Found, Iteration
from simulator.measured.logs.lines import positive, whole

SAYS = "scalars of TensorBoard"
TIMES = ("iteration-time", "iteration_time", "step_time")
MEMORY = ("mem-max-allocated-bytes", "mem-allocated-bytes")


def read(lines: list[str]) -> Found:
    if not lines or not lines[0].lstrip().startswith("{"):
        return Found([], 0, {})
    try:
        whole_text = json.loads("\n".join(lines))
    except (ValueError, RecursionError):
        return Found([], 0, {})
    if not isinstance(whole_text, dict):
        return Found([], 0, {})
    times = next((values for name in TIMES if (values := _values(whole_text.get(name)))), {})
    memory = next((values for name in MEMORY if (values := _values(whole_text.get(name)))), {})
    found = [
        Iteration(number=step, seconds=seconds, sampled=True, memory=positive(memory.get(step)))
        for step, value in sorted(times.items())
        if (seconds := positive(value)) is not None
    ]
    return Found(found, len(lines), {})


def _values(series: Any) -> dict[int, Any]:
    values = series.get("values") if isinstance(series, dict) else None
    if not isinstance(values, dict):
        return {}
    return {step: value for name, value in values.items() if (step := whole(name)) is not None}
