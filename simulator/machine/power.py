"""What a host draws while it computes, communicates or waits.

A host is a base (processors, NICs, fans) and its GPUs, each between idle and full power by how busy it is. Eight H100
at full load draw 8.4 kW with it, as measured, 18% below the rating of the host (arXiv 2412.08602); energy from thermal
design power overstates by 27-37% (arXiv 2506.14551).
"""

from __future__ import annotations

from functools import cache

from simulator import catalog, units
from simulator.machine.hardware import Host
from simulator.units import Share, Watts


@cache
def _constants() -> tuple[Watts, Share]:
    entry = catalog.entry("calibration", "power")
    return units.parse(entry["base_per_gpu"], "W"), units.parse(entry["communication_share"], "share")


def host_power(host: Host, compute: Share, communication: Share = 0.0) -> Watts:
    """Return the mean power of `host` whose GPUs compute and only communicate for these shares of the time.

    It is never more than the host is rated for: supplies and power caps hold it there.
    """
    base, communicating = _constants()
    busy = compute + communicating * communication
    gpu = host.gpu.idle_power + (host.gpu.power - host.gpu.idle_power) * min(1.0, busy)
    drawn = host.gpus * (base + gpu)
    return drawn if host.power is None else min(drawn, host.power)
