"""DeepSpeed's timer: ``global_step=10, RunningAvgSamplesPerSec=173.4, CurrSamplesPerSec=171.9, MaxMemAllocated=23GB``.

Samples a second are of the whole job. Source: `ThroughputTimer` of deepspeed/utils/timer.py.
"""

from __future__ import annotations

import re

from simulator.measured.iteration import Found, Iteration
from simulator.measured.logs.lines import clock, field, positive, size

SAYS = "DeepSpeed"
STEP = re.compile(r"global_step=(\d{1,12})")


def read(lines: list[str]) -> Found:
    found = []
    for line in lines:
        step, rate = STEP.search(line), positive(field(line, "CurrSamplesPerSec="))
        if step and rate is not None:
            found.append(
                Iteration(
                    number=int(step[1]), samples_per_s=rate, clock=clock(line), memory=size(line, "MaxMemAllocated=")
                )
            )
    return Found(found, len(found), {})
