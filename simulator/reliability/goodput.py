"""Goodput by the definitions in use, from the parts of a wall clock."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simulator.sums import added
from simulator.units import Number, Seconds


def definitions(parts: Mapping[str, Seconds], mfu: Number | None = None) -> dict[str, Any]:
    """Return each definition's value and, in words, what it counts.

    `parts` are train, checkpoint, lost, detect, diagnose, restart, wait, degraded, planned and other; Google's
    three multiply to its total, with program goodput taken as MFU where that is known.
    """
    wall = added(parts.values())
    productive = parts["train"] + parts["degraded"]
    available = wall - parts["wait"]
    wanted = wall - parts["planned"]
    scheduling, runtime = _share(available, wall), _share(productive, available)
    named = {
        "goodput": (_share(parts["train"], wall), "useful work at full speed / wall clock"),
        "meta_ettr": (
            _share(productive, wanted),
            "time of work that was kept, slow hours included / wall clock without planned stops (arXiv 2410.21680)",
        ),
        "google_scheduling": (scheduling, "time with all hosts at hand / wall clock"),
        "google_runtime": (runtime, "time of work that was kept / time with all hosts at hand"),
    }
    if mfu is not None:
        named["google_program"] = (mfu, "model FLOP/s / peak FLOP/s while training")
        named["google_total"] = (scheduling * runtime * mfu, "scheduling x runtime x program goodput")
    return {name: {"value": value, "definition": text} for name, (value, text) in named.items()}


def _share(part: Seconds, whole: Seconds) -> Number:
    return part / whole if whole > 0 else 1.0
