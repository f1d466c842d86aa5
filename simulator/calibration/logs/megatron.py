"""Megatron-LM: ``iteration 100/ 500000 | ... | elapsed time per iteration (ms): 1234.5 | ...``."""

from __future__ import annotations

import re

from simulator.calibration.logs.sample import Sample

SAYS = "Megatron-LM"
LINE = re.compile(r"elapsed time per iteration \(ms\): ([0-9.]{1,20})")


def samples(text: str) -> tuple[Sample, ...]:
    return tuple(Sample(seconds=float(found[1]) / 1000) for found in LINE.finditer(text) if float(found[1]) > 0)
