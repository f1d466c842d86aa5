"""JSON lines: one object a step, as NeMo AutoModel, Hugging Face's trainer and trackers write them."""

from __future__ import annotations

import json

from simulator.measured.iteration import Found
from simulator.measured.logs.named_values import iteration

SAYS = "JSON lines"


def read(lines: list[str]) -> Found:
    found, used, broken = [], 0, 0
    for line in lines:
        if not line.lstrip().startswith("{"):
            continue
        try:
            said = json.loads(line)
        except (ValueError, RecursionError):
            broken += 1
            continue
        step = iteration(said) if isinstance(said, dict) else None
        if step is not None:
            used += 1
            found.append(step)
    return Found(found, used, {"broken lines": broken} if broken and found else {})
