"""NCCL's own cost model: latencies, bandwidth caps and efficiencies by algorithm, protocol and GPU generation.

Numbers are those of NVIDIA/nccl 2.30.7, src/graph/tuning.cc, in ``catalog/calibration/nccl.csv``; the formulas are
in the functions. LL sends 4 bytes of data with 4 of flag: least latency, half the bandwidth. LL128 sends 120 with
8, over NVLink. Simple sends whole slices and synchronises: full bandwidth.
"""

from __future__ import annotations

from functools import cache
from math import log2
from typing import Literal

from simulator import catalog
from simulator.units import Bytes, BytesPerSecond, Seconds, Share

Protocol = Literal["LL", "LL128", "Simple"]
MICROSECOND: Seconds = 1e-6
PLATEAU = 1.4
"""Factor on the latency of a ring all-reduce over several hosts with Simple, compute capability 8 and above."""
LL128_SHARE: Share = 0.92
"""Of the ring's bandwidth; 120 of 128 bytes are data."""
SIMPLE_OVERHEAD = 3
"""With Simple a step over the network costs the host three times its overhead."""


_MACHINES = {"Volta": "SM70", "Ampere": "SM80", "Hopper": "SM90", "Blackwell": "SM100"}


@cache
def _table() -> dict[tuple[str, str, str], float]:
    return {
        (row["group"], row["algo"], row["proto"]): float(row["value"])
        for row in catalog.csv_rows("calibration", "nccl")
    }


@cache
def base(algorithm: str, protocol: Protocol) -> Seconds:
    """Return the latency of starting a collective."""
    return _table()["baseLatency", algorithm, protocol] * MICROSECOND


@cache
def step(links: str, algorithm: str, protocol: Protocol) -> Seconds:
    """Return the latency of one step over links of kind NVLINK, PCI or NET."""
    return _table()[f"hwLatency {links}", algorithm, protocol] * MICROSECOND


@cache
def overhead(protocol: Protocol) -> Seconds:
    """Return what the host adds to each step inside it, once a ring also crosses the network."""
    return (
        _table()["netOverhead per step", "x86 Intel", ""]
        * MICROSECOND
        * (SIMPLE_OVERHEAD if protocol == "Simple" else 1)
    )


@cache
def ll_most(generation: str, hosts: int) -> BytesPerSecond:
    """Return the bus bandwidth that LL reaches at most."""
    nodes = "1 node" if hosts <= 1 else "2 nodes" if hosts == 2 else ">=3 nodes"
    return _table()["llMaxBw (bus, GB/s)", generation, nodes] * 1e9


@cache
def nvls_efficiency(generation: str) -> Share:
    """Return what NCCL expects NVLS to reach of the links' bandwidth."""
    return _table()["nvlsEfficiency", generation, "Simple"]


@cache
def link_rate(generation: str) -> BytesPerSecond:
    """Return what NCCL counts on of one NVLink when it looks for rings (src/graph/topo.h)."""
    return _table()["NVLink bw per link used by the topology search", _MACHINES[generation], ""] * 1e9


def tree_correction(nbytes: Bytes, protocol: Protocol) -> Share:
    """Return the share of a tree's bandwidth that NCCL expects at this size, below 64 MiB."""
    if nbytes < 64 or nbytes >= 1 << 30:
        return 1.0
    return _tree_correction(int(log2(nbytes)), protocol)


@cache
def _tree_correction(power: int, protocol: Protocol) -> Share:
    return _table()["treeCorrectionFactor", f"{1 << power} B", protocol]
