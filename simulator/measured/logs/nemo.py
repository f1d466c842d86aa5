"""NeMo and Megatron-Bridge: ``train_step_timing in s: 5.43`` in a progress bar, and ``Step Time : 5.43s``.

Sources: `TimingCallback` of NeMo's nemo/utils/exp_manager.py, `training_log` of Megatron-Bridge's train_utils.py.
"""

from __future__ import annotations

import re

from simulator.measured.iteration import Found, Iteration
from simulator.measured.logs.lines import NUMBER, clock, field, positive, whole

SAYS = "NeMo"
LINE = re.compile(rf"(?:train_step_timing in s[\s:=]{{1,4}}|Step Time\s{{0,3}}:\s{{0,3}})({NUMBER})")


def read(lines: list[str]) -> Found:
    found = []
    for line in lines:
        said = LINE.search(line)
        if said and (seconds := positive(said[1])) is not None:
            tera = field(line, "GPU utilization:")
            found.append(
                Iteration(
                    number=whole(field(line, r"(?:global_step[=:]|\biteration)")),
                    seconds=seconds,
                    clock=clock(line),
                    batch=whole(field(line, "global batch size:")),
                    flops=tera * 1e12 if tera else None,
                )
            )
    return Found(found, len(found), {})
