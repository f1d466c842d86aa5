"""NeMo and Megatron-Bridge: ``train_step_timing in s: 5.43`` and ``Step Time : 5.43s``."""

from __future__ import annotations

import re

from simulator.calibration.logs.sample import Sample

SAYS = "NeMo"
LINE = re.compile(r"(?:train_step_timing in s[\s:=]{1,4}|Step Time\s{0,3}:\s{0,3})([0-9]{1,10}(?:\.[0-9]{1,20})?)")


def samples(text: str) -> tuple[Sample, ...]:
    return tuple(Sample(seconds=float(found[1])) for found in LINE.finditer(text) if float(found[1]) > 0)
