"""What each axis sends over the links in a step, for the load of the fabric."""

from __future__ import annotations

from simulator.engine.prices.assembly import Assembly
from simulator.engine.step.transfers import SCALE_OUT, SCALE_UP, Way
from simulator.machine.link_load import Carried


def carried(assembly: Assembly) -> dict[str, Carried]:
    """Return what a group of each axis sends in a step, the mean over the stages; axes that send nothing left out.

    An axis whose ranks send both around a ring and each to all has the latter apart, as ``"shard exchange"``: on the
    links they are two patterns.
    """
    work, channels = assembly.step(), assembly.durations.channels
    found = {}
    ways = dict.fromkeys((way.axis, way.pattern) for way in work.sent)
    for axis, pattern in ways:
        out, up = (work.sent.get(Way(axis, pattern, links), 0.0) / work.stages for links in (SCALE_OUT, SCALE_UP))
        both = pattern == "exchange" and (axis, "ring") in ways
        found[f"{axis} exchange" if both else axis] = Carried(
            channels[axis], up if channels[axis].inside_host else out, pattern, up
        )
    return found
