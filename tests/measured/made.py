"""Logs with a known answer: a quiet level, noise, and what disturbs it."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta

WARM_UP = 2


def times(seed: int, steps: int, level: float, noise: float = 0.006, **fault: float) -> list[float]:
    """Return the times of steps: `step_change` from the middle on, one longer step in `every`, or `drift` over all."""
    luck = random.Random(seed)
    found = [level * (1 + luck.gauss(0, noise)) for _ in range(steps)]
    if "step_change" in fault:
        at = int(fault["at"])
        found = [one if i < at else one * fault["step_change"] for i, one in enumerate(found)]
    if "every" in fault:
        found = [one + fault["extra"] * ((i + 1) % int(fault["every"]) == 0) for i, one in enumerate(found)]
    if "drift" in fault:
        found = [one * (1 + fault["drift"] * i / steps) for i, one in enumerate(found)]
    found[0], found[1] = 20 * level, 1.5 * level
    return found


def megatron(seconds: list[float], batch: int = 64, first: int = 1) -> str:
    """Return the times as Megatron-LM writes them."""
    now, lines = datetime(2026, 1, 1, tzinfo=UTC), []
    for number, one in enumerate(seconds, first):
        now += timedelta(seconds=one)
        lines.append(
            f" [{now:%Y-%m-%d %H:%M:%S.%f}] iteration {number:8d}/  500000 | consumed samples: {number * batch:12d} | "
            f"elapsed time per iteration (ms): {1000 * one:.1f} | throughput per GPU (TFLOP/s/GPU): 400.0 | "
            f"global batch size: {batch:5d} | number of skipped iterations:   0 | number of nan iterations:   0 |\n"
        )
    return "".join(lines)
