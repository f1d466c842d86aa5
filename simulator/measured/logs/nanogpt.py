"""nanoGPT and its speed runs: ``iter 10: loss 8.1, time 216.33ms, mfu 38%``, ``step:13/6200 train_time:641ms ...``.

train_time is cumulative and its clock is set back after the warm-up; a step is the difference of two lines. Sources:
train.py of karpathy/nanoGPT, train_gpt2.py of KellerJordan/modded-nanogpt.
"""

from __future__ import annotations

import re

from simulator.measured.iteration import Found, Iteration
from simulator.measured.logs.lines import NUMBER, clock, number, positive

SAYS = "nanoGPT"
CUMULATIVE = re.compile(rf"\bstep:(\d{{1,12}})/(\d{{1,12}})\b.{{0,200}}\btrain_time:({NUMBER})ms")
PLAIN = re.compile(rf"\biter (\d{{1,12}}): loss .{{1,40}}?, time ({NUMBER})ms")


def read(lines: list[str]) -> Found:
    found: list[Iteration] = []
    used, before = 0, None
    for line in lines:
        if (plain := PLAIN.search(line)) and (milliseconds := positive(plain[2])) is not None:
            used += 1
            found.append(Iteration(number=int(plain[1]), seconds=milliseconds / 1000, clock=clock(line)))
        elif said := CUMULATIVE.search(line):
            used += 1
            step, elapsed = int(said[1]), number(said[3]) or 0.0
            if before is not None and step > before[0] and elapsed > before[1]:
                seconds = (elapsed - before[1]) / 1000 / (step - before[0])
                found.append(Iteration(number=step, last=int(said[2]), seconds=seconds, clock=clock(line)))
            before = step, elapsed
    return Found(found, used, {})
