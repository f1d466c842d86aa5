"""torchtitan: ``step: 10 loss: 8.1 ... tps: 6,512 tflops: 377.10 mfu: 38.13%``; tps are tokens a second and GPU."""

from __future__ import annotations

import re

from simulator.calibration.logs.sample import Sample

SAYS = "torchtitan"
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
LINE = re.compile(r"step:\s*\d+\b.{0,400}?\btps:\s*([0-9,]{1,20})")


def samples(text: str) -> tuple[Sample, ...]:
    rates = (float(found[1].replace(",", "") or 0) for found in LINE.finditer(COLOUR.sub("", text)))
    return tuple(Sample(tokens_per_gpu=rate) for rate in rates if rate > 0)
