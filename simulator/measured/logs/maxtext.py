"""MaxText: ``completed step: 12, seconds: 15.5, TFLOP/s/device: 508.4, Tokens/s/device: 1056, total_weights: 4194304``.

total_weights are the tokens of the step. Source: src/MaxText/metric_logger.py.
"""

from __future__ import annotations

from simulator.measured.iteration import Found, Iteration
from simulator.measured.logs.lines import clock, field, positive, whole

SAYS = "MaxText"


def read(lines: list[str]) -> Found:
    found = []
    for place, line in enumerate(lines, 1):
        step, seconds = field(line, "completed step:"), positive(field(line, r"\bseconds:"))
        tera = field(line, "TFLOP/s/device:")
        ends_within = place == len(lines) and tera is None  # a log may end within a number
        if step is None or seconds is None or ends_within:
            continue
        found.append(
            Iteration(
                number=whole(step),
                seconds=seconds,
                clock=clock(line),
                tokens=positive(field(line, "total_weights:")),
                tokens_per_gpu=positive(field(line, "Tokens/s/device:")),
                flops=tera * 1e12 if tera else None,
            )
        )
    return Found(found, len(found), {})
