"""What a log of nccl-tests says of a cluster: factors on latency and bandwidth, and the error before and after.

Three numbers are learned, each the median over the rows that show it: latency from messages up to 64 KiB, the
bandwidth inside a domain and across domains from 64 MiB on. Medians shrug off single slow rows.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import median

from simulator.errors import ScenarioError
from simulator.machine import collectives
from simulator.machine.channel import Channel
from simulator.machine.collectives.base import Operation
from simulator.machine.hardware import Host
from simulator.machine.network import Network, NetworkCalibration
from simulator.sums import added
from simulator.units import Bytes, Count, Number, Seconds, Share, whole
from topologies.fat_tree import FatTree

SMALL: Bytes = 65536.0
LARGE: Bytes = float(1 << 26)
ROUNDS = 6
"""Latency moves the error of large messages a little, and bandwidth that of small ones."""
NAMES: dict[str, Operation] = {
    "all_reduce": "all_reduce",
    "all_gather": "all_gather",
    "reduce_scatter": "reduce_scatter",
    "alltoall": "all_to_all",
    "broadcast": "broadcast",
    "sendrecv": "send",
}
RANK = re.compile(r"^#\s+Rank\s+([0-9]{1,9})\b.*?\bon\s+(\S+)\s+device\b")


@dataclass(frozen=True, kw_only=True)
class Log:
    """One run of a benchmark: what it ran, where, and its times out of place."""

    operation: Operation
    ranks: Count
    hosts: Count
    times: tuple[tuple[Bytes, Seconds], ...]


@dataclass(frozen=True, kw_only=True)
class Fit:
    """What was learned, with the mean absolute error of times before and after."""

    calibration: NetworkCalibration
    rows: Count
    shown: dict[str, Count]
    """Rows that show each factor."""
    before: Share
    after: Share


def parse(text: str, name: str = "") -> Log:
    """Return what a log says; `name`, of its file, tells the benchmark where the log does not, as older ones do not.

    Raises ScenarioError where a log has no ranks, no rows, or no name.
    """
    operation: Operation | None = None
    places: dict[int, str] = {}
    times: list[tuple[float, float]] = []
    for line in text.splitlines():
        if rank := RANK.match(line):
            places[int(rank[1])] = rank[2]
        elif found := _row(line):
            times.append(found)
        elif operation is None and line.startswith("#"):
            operation = next((op for name, op in NAMES.items() if f"{name}_perf" in line), None)
    if not places or not times:
        missing = "lines `# Rank ... on HOST device ...`" if not places else "rows of sizes and times"
        raise ScenarioError(f"not a log of nccl-tests: it has no {missing}")
    operation = operation or _named(name)
    if operation is None:
        raise ScenarioError(
            f"{name or 'the log'} does not name its benchmark; call the file after it, such as all_reduce.log "
            f"(one of {', '.join(NAMES)})"
        )
    if len(places) == 1:
        raise ScenarioError("a log of one rank shows no network; run nccl-tests on two GPUs or more")
    return Log(operation=operation, ranks=len(places), hosts=len(set(places.values())), times=tuple(times))


def _named(file: str) -> Operation | None:
    """Return the benchmark that a file is called after.

    >>> _named("2-hosts-all-reduce.txt")
    'all_reduce'
    """
    plain = file.lower().replace("-", "_").replace("all_to_all", "alltoall")
    return next((operation for name, operation in NAMES.items() if name in plain), None)


def fit(logs: Sequence[Log], host: Host) -> Fit:
    """Return the factors that bring the predictions for `host` closest to the logs."""
    rows = [(log, _channel(log, host), nbytes, time) for log in logs for nbytes, time in log.times]
    found = NetworkCalibration()
    ratios: dict[str, list[float]] = {}
    for _ in range(ROUNDS):
        ratios = {"latency": [], "scale_up": [], "scale_out": []}
        for log, channel, nbytes, time in rows:
            ratio = time / _predicted(log, channel, nbytes, found)
            if nbytes <= SMALL:
                ratios["latency"].append(ratio)
            elif nbytes >= LARGE:
                ratios["scale_up" if channel.inside_host else "scale_out"].append(1 / ratio)
        found = replace(found, **{name: getattr(found, name) * median(r) for name, r in ratios.items() if r})
    return Fit(
        calibration=found,
        rows=len(rows),
        shown={name: len(ones) for name, ones in ratios.items()},
        before=_error(rows, NetworkCalibration()),
        after=_error(rows, found),
    )


def error(logs: Sequence[Log], host: Host, calibration: NetworkCalibration) -> Number:
    """Return the mean absolute error of the times in logs."""
    return _error([(log, _channel(log, host), nbytes, time) for log in logs for nbytes, time in log.times], calibration)


def _row(line: str) -> tuple[float, float] | None:
    """Return size and time out of place of a line such as ``1048576 262144 float sum -1 28.6 36.7 64.3 0 27.4 ...``."""
    cells = line.split()
    if len(cells) < 11 or (nbytes := whole(cells[0])) is None or whole(cells[1]) is None:
        return None
    try:
        time = float(cells[-8]) * 1e-6
    except ValueError:
        return None
    return (float(nbytes), time) if nbytes > 0 and 0 < time < math.inf else None


def _channel(log: Log, host: Host) -> Channel:
    if log.ranks % log.hosts or log.ranks // log.hosts > host.gpus:
        raise ScenarioError(f"{log.ranks} ranks on {log.hosts} hosts do not fit hosts of {host.gpus} GPUs")
    used = replace(host, gpus=log.ranks // log.hosts)
    return Network(used, log.hosts, FatTree()).channel(log.ranks, 1)


def _predicted(log: Log, channel: Channel, nbytes: Bytes, calibration: NetworkCalibration) -> Seconds:
    learned = replace(
        channel,
        latency_factor=calibration.latency,
        scale_up_factor=calibration.scale_up,
        scale_out_factor=calibration.scale_out,
    )
    return collectives.time(log.operation, nbytes, learned)


def _error(rows: Sequence[tuple[Log, Channel, Bytes, Seconds]], calibration: NetworkCalibration) -> Share:
    return added(
        abs(_predicted(log, channel, size, calibration) / time - 1) for log, channel, size, time in rows
    ) / len(rows)
