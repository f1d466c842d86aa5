"""torchtitan: ``step: 10 loss: 8.1 memory: 49.7GiB(52.3%) tps: 6,512 tflops: 377.10 mfu: 38.13%``.

tps are tokens a second and GPU, a mean since the line before. Source: `MetricsProcessor.log` of
torchtitan/components/metrics.py.
"""

from __future__ import annotations

import re

from simulator.measured.iteration import Found, Iteration
from simulator.measured.logs.lines import COLOUR, clock, field, positive, size

SAYS = "torchtitan"
LINE = re.compile(r"step:\s{0,8}(\d{1,12})\b.{0,400}?\btps:\s{0,8}([0-9,]{1,20})")


def read(lines: list[str]) -> Found:
    found, broken = [], 0
    for raw in lines:
        line = COLOUR.sub("", raw)
        said = LINE.search(line)
        rate = positive(said[2]) if said else None
        if said is None or rate is None:
            broken += bool(re.search(r"\bstep:\s{0,8}\d{1,12}\s.{0,200}\bloss:", line))
            continue
        tera, percent = field(line, "tflops:"), field(line, "mfu:")
        found.append(
            Iteration(
                number=int(said[1]),
                tokens_per_gpu=rate,
                clock=clock(line),
                memory=size(line, "memory:"),
                flops=tera * 1e12 if tera else None,
                mfu=percent / 100 if percent else None,
            )
        )
    return Found(found, len(found), {"broken lines": broken} if broken else {})
