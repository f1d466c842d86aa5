"""DeepSpeed's ``wall_clock_breakdown``: ``time (ms) | forward_microstep: 1330.05 | backward_microstep: 4766.88 | ...``.

A line is a microbatch: forward, backward and optimizer of it. Source: `_write_timers` of deepspeed/runtime/engine.py.
"""

from __future__ import annotations

from simulator.measured.iteration import Found, Iteration
from simulator.measured.logs.lines import clock, field

SAYS = "DeepSpeed's breakdown (time of a microbatch)"
PARTS = ("forward_microstep:", "backward_microstep:", "step_microstep:")


def read(lines: list[str]) -> Found:
    found = []
    for line in lines:
        times = [field(line, rf"\| {part}") for part in PARTS]
        forward, backward, update = times
        if forward and backward:
            found.append(Iteration(seconds=(forward + backward + (update or 0.0)) / 1000, clock=clock(line)))
    return Found(found, len(found), {})
