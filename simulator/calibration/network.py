"""Factors on a host's network from nccl-tests logs, believed as far as their rows go."""

from __future__ import annotations

from collections.abc import Sequence

from simulator.calibration.nccl_tests import Log, error, fit
from simulator.calibration.shrinking import shrunk
from simulator.machine.hardware import Host
from simulator.machine.network import NetworkCalibration
from simulator.scenario.calibration import Evidence


def learned(logs: Sequence[Log], host: Host) -> tuple[NetworkCalibration, Evidence]:
    """Return the factors, and how wrong the times in the logs were before and after."""
    found = fit(logs, host)
    kept = {name: shrunk(getattr(found.calibration, name), rows) for name, rows in found.shown.items()}
    calibration = NetworkCalibration(**kept)
    after = error(logs, host, calibration)
    what = ", ".join(sorted({f"{log.operation} on {log.ranks} GPUs" for log in logs}))
    return calibration, Evidence(source=f"nccl-tests: {what}", rows=found.rows, before=found.before, after=after)
