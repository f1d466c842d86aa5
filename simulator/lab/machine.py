"""A measured roofline as the `gpu` of a host that a scenario can describe inline."""

from __future__ import annotations

import os
from typing import Any

from simulator import units
from simulator.lab.roofline import Roofline
from simulator.units import Bytes


def described(measured: Roofline) -> dict[str, Any]:
    """Return the keys of `cluster.host.gpu`."""
    return {
        "memory": units.render(float(round(memory())), "B"),
        "memory_bandwidth": units.render(float(f"{measured.bandwidth:.4g}"), "B/s"),
        "peak": {dtype: units.render(float(f"{peak:.4g}"), "FLOP/s") for dtype, peak in measured.peak.items()},
    }


def memory() -> Bytes:
    """Return the memory of this machine."""
    try:
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (ValueError, OSError, AttributeError):
        return 16.0 * 2**30
