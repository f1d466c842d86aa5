"""Figures of GPUs, hosts and prices that are probably a mix-up: of units, of directions, of one and of all.

Bounds lie beyond everything in the catalog, and before what each of the usual mistakes makes of it.
"""

from __future__ import annotations

from collections.abc import Iterator

from simulator import catalog
from simulator.machine import hardware
from simulator.machine.hardware import Gpu, Host
from simulator.scenario.prices import Prices
from simulator.units import render

LABELS = (12, 16, 24, 32, 40, 48, 64, 80, 94, 96, 128, 141, 144, 192, 256, 288)
"""GiB that GPUs are sold with."""
LARGEST_GPU = 600 * 2**30
"""Bytes; 288 GiB is the most in the catalog, 640 GiB are eight of the smallest that train models."""
FASTEST_MEMORY = 25e12
"""Bytes a second; 8 TB/s is the fastest in the catalog, eight times 3.35 TB/s what a host or bits would be."""
STEEPEST_RIDGE = 580.0
"""Dense bf16 FLOP a byte of memory bandwidth; 37 to 560 in the catalog, twice that with sparsity."""
WIDEST_SCALE_UP = 0.26
"""Of the memory bandwidth, in one direction; 0.02 to 0.25 in the catalog, twice that where both directions count."""
HOTTEST_GPU = 3000.0
FASTEST_NIC = 150e9
"""Bytes a second; 800 Gb/s NICs (100 GB/s) are the fastest in the catalog."""
SLOWEST_LATENCY = 100e-6
"""Seconds; a hop of a network for training takes one or two microseconds."""
DEAREST_GPU_HOUR = 15.0
DEAREST_KILOWATT_HOUR = 2.0
"""Dollars; a MWh costs some tens."""
DIRTIEST_KILOWATT_HOUR = 2.0
"""Kilograms of CO2; coal emits one."""


def of_gpu(gpu: Gpu) -> Iterator[str]:
    """Yield a warning for each figure of one GPU that is probably another's."""
    gigabytes = gpu.memory / 1e9
    if gigabytes in LABELS:
        yield (
            f"cluster.host.gpu.memory: {gigabytes:g}GB is {gpu.memory / 2**30:.1f}GiB; "
            f"a GPU labelled {gigabytes:g} GB has {gigabytes:g}GiB"
        )
    if gpu.memory > LARGEST_GPU:
        yield f"cluster.host.gpu.memory: {gpu.memory / 2**30:.0f}GiB is for one GPU; if a host's, divide by its GPUs"
    if gpu.memory_bandwidth > FASTEST_MEMORY:
        terabytes = gpu.memory_bandwidth / 1e12
        yield (
            f"cluster.host.gpu.memory_bandwidth: {terabytes:g}TB/s is for one GPU, in bytes; if it is a host's, "
            f"divide by its GPUs, if bits were meant write {terabytes:g}Tbps"
        )
    known = hardware.gpu(gpu.name) if gpu.name in catalog.names("gpu") else None
    yield from _peak(gpu, known)
    if gpu.scale_up > WIDEST_SCALE_UP * gpu.memory_bandwidth or (known and _twice(gpu.scale_up, known.scale_up)):
        yield (
            f"cluster.host.gpu.scale_up: {gpu.scale_up / 1e9:g}GB/s is one GPU's in one direction; data sheets add "
            f"both, which would be {gpu.scale_up / 2e9:g}GB/s here"
        )
    if gpu.power > HOTTEST_GPU:
        yield f"cluster.host.gpu.power: {gpu.power:g}W is for one GPU; a host's goes to cluster.host.power"


def of_host(host: Host) -> Iterator[str]:
    """Yield a warning for each figure of a host that is probably one GPU's, or of all its parts."""
    if host.nics and host.nic_bandwidth > FASTEST_NIC:
        gigabytes = host.nic_bandwidth / 1e9
        yield (
            f"cluster.host.nic_bandwidth: {gigabytes:g}GB/s is one NIC's, {8 * gigabytes:g}Gbps; if it counts all "
            f"{host.nics} NICs write {8 * gigabytes / host.nics:g}Gbps, if bits were meant {gigabytes:g}Gbps"
        )
    if host.nics and host.nic_latency > SLOWEST_LATENCY:
        yield (
            f"cluster.host.nic_latency: {1e3 * host.nic_latency:g}ms; a network for training takes microseconds, "
            f"such as 2us"
        )
    if host.gpus > 1 and host.scale_up.bandwidth > 1.5 * host.gpu.scale_up > 0:
        gigabytes = host.scale_up.bandwidth / 1e9
        yield (
            f"cluster.host.scale_up.bandwidth: {gigabytes:g}GB/s is one GPU's in one direction, and the GPU has "
            f"{host.gpu.scale_up / 1e9:g}GB/s; if it counts all {host.gpus} GPUs write {gigabytes / host.gpus:g}GB/s, "
            f"if both directions {gigabytes / 2:g}GB/s"
        )
    if host.memory and host.memory < host.gpu.memory:
        yield (
            f"cluster.host.memory: {host.memory / 1e9:g}GB is the whole host's, less than the memory of one of its GPUs"
        )
    if host.power and host.power < 0.7 * host.gpus * host.gpu.power:
        yield (
            f"cluster.host.power: {host.power:g}W is the whole host's, less than its {host.gpus} GPUs of "
            f"{host.gpu.power:g}W need"
        )


def of_prices(prices: Prices, gpus_per_host: int) -> Iterator[str]:
    """Yield a warning for each price that is probably of something else."""
    if prices.gpu_hour > DEAREST_GPU_HOUR:
        yield (
            f"prices.gpu_hour: {render(prices.gpu_hour, '$')} is for one GPU; "
            f"if it is a host's, write {render(round(prices.gpu_hour / gpus_per_host, 2), '$')}"
        )
    if prices.electricity > DEAREST_KILOWATT_HOUR:
        yield (
            f"prices.electricity: ${prices.electricity:g} is for a kWh; if it is for a MWh write "
            f"${prices.electricity / 1000:g}/kWh"
        )
    if prices.carbon > DIRTIEST_KILOWATT_HOUR:
        yield (
            f"prices.carbon: {prices.carbon:g}kg is for a kWh; if grams were meant write {prices.carbon / 1000:g}kg/kWh"
        )


def _peak(gpu: Gpu, known: Gpu | None) -> Iterator[str]:
    bf16 = _bf16(gpu)
    ridge = bf16 / gpu.memory_bandwidth
    says = f"cluster.host.gpu.peak: {render(bf16, 'FLOP/s')} is"
    sparse = "a peak with sparsity is twice the dense one, which belongs here"
    if known and _twice(bf16, _bf16(known)):
        yield f"{says} twice the {render(_bf16(known), 'FLOP/s')} of a {gpu.name}; {sparse}"
    elif ridge > 2 * STEEPEST_RIDGE:
        yield f"{says} {ridge:.0f} FLOP a byte of memory bandwidth; both are one GPU's, the bandwidth in bytes"
    elif ridge > STEEPEST_RIDGE:
        yield f"{says} {ridge:.0f} FLOP a byte of memory bandwidth; {sparse}"
    if bf16 and gpu.peak.get("fp8", 0.0) > 3 * bf16:
        yield "cluster.host.gpu.peak.fp8: more than twice the bf16 peak; a peak with sparsity is twice the dense one"


def _bf16(gpu: Gpu) -> float:
    return gpu.peak.get("bf16", gpu.peak.get("fp16", 0.0))


def _twice(value: float, known: float) -> bool:
    """Return whether `value` is twice `known`, rounded as data sheets do."""
    return known > 0 and abs(value / known - 2) < 0.02
