"""Megatron-LM and Megatron-DeepSpeed: ``iteration 100/ 500000 | ... | elapsed time per iteration (ms): 1234.5 | ...``.

The elapsed time is the mean over the iterations since the line before; it is in ms, in older Megatron-DeepSpeed in s.
Source: `training_log` of megatron/training/training.py.
"""

from __future__ import annotations

import re

from simulator.measured.iteration import Found, Iteration
from simulator.measured.logs.lines import NUMBER, clock, field, positive, whole

SAYS = "Megatron-LM"
ITERATION = re.compile(r"iteration\s{1,12}(\d{1,12})/\s{0,12}(\d{1,12})")
ELAPSED = re.compile(rf"elapsed time per iteration \((ms|s)\):\s{{0,4}}({NUMBER})")


def read(lines: list[str]) -> Found:
    found, broken = [], 0
    for line in lines:
        if "elapsed time per iteration" not in line and "number of nan iterations" not in line:
            continue
        which, elapsed = ITERATION.search(line), ELAPSED.search(line)
        seconds = positive(elapsed[2]) if elapsed else None
        if elapsed is None or seconds is None or (which is None and "consumed samples" not in line):
            broken += 1
            continue
        tera = field(line, r"(?:throughput per GPU \(TFLOP/s/GPU\)|TFLOPs):")
        found.append(
            Iteration(
                number=whole(which[1]) if which else None,
                last=whole(which[2]) if which else None,
                seconds=seconds / 1000 if elapsed[1] == "ms" else seconds,
                batch=whole(field(line, "global batch size:")),
                sequence_length=whole(field(line, "actual seqlen:")),
                clock=clock(line),
                flops=tera * 1e12 if tera else None,
                samples_per_s=positive(field(line, "samples per second:")),
            )
        )
    return Found(found, len(found), {"broken lines": broken} if broken else {})
