"""MLPerf: ``:::MLLOG {"time_ms": ..., "key": "tracked_stats", "value": {"train_step_time": 1.54}, ...}``.

Source: mlperf_logging/mllog of mlcommons/logging. Submitters choose what they track: a time of a step, or samples a
second of the whole job.
"""

from __future__ import annotations

import json
from typing import Any

from simulator.measured.iteration import Found, Iteration
from simulator.measured.logs.lines import positive, whole

SAYS = "MLPerf"


def read(lines: list[str]) -> Found:
    found: list[Iteration] = []
    used, broken, batch = 0, 0, None
    for line in lines:
        _, mark, content = line.partition(":::MLLOG ")
        if not mark:
            continue
        said = _object(content)
        if said is None:
            broken += 1
            continue
        used += 1
        if said.get("key") == "global_batch_size":
            batch = whole(said.get("value"))
        value = said.get("value")
        if said.get("key") == "tracked_stats" and isinstance(value, dict):
            seconds, rate = positive(value.get("train_step_time")), positive(value.get("throughput"))
            if seconds is not None or rate is not None:
                memory = positive(value.get("max_memory_usage"))
                moment = positive(said.get("time_ms"))
                found.append(
                    Iteration(
                        seconds=seconds,
                        samples_per_s=rate,
                        batch=batch,
                        clock=moment / 1000 if moment else None,
                        memory=memory * 1e9 if memory else None,
                    )
                )
    return Found(found, used, {"broken lines": broken} if broken else {})


def _object(text: str) -> dict[str, Any] | None:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
