"""Values that may be meant but probably are not: each gets a warning with the likely meaning.

Labels of memory are GiB, links are counted per direction and per device, peaks are dense, a batch counts
sequences, prices are per GPU: the mix-ups that are common in data sheets and spreadsheets.
"""

from __future__ import annotations

from collections.abc import Iterator

from simulator.machine.hardware import Gpu, Host
from simulator.reliability.failures.base import Cause
from simulator.scenario.scenario import Scenario
from simulator.units import render

LABELS = (12, 16, 24, 32, 40, 48, 64, 80, 94, 96, 128, 141, 144, 192, 256, 288)
"""GiB that GPUs are sold with."""
FASTEST_NIC = 150e9
"""Bytes a second; 800 Gb/s NICs (100 GB/s) are the fastest in the catalog."""
STEEPEST_RIDGE = 500.0
"""Dense bf16 FLOP a byte of memory bandwidth; 37 to 420 on every GPU in the catalog, twice that with sparsity."""
DEAREST_GPU_HOUR = 15.0
LARGEST_STEP = 5e8
"""Tokens; the largest published batches are below 1e8."""
HOTTEST_GPU = 3000.0


def warnings(scenario: Scenario) -> Iterator[str]:
    """Yield a warning for each value that is probably a mix-up."""
    host = scenario.cluster.host
    yield from _gpu(host.gpu)
    yield from _host(host)
    if scenario.prices.gpu_hour > DEAREST_GPU_HOUR:
        yield (
            f"prices.gpu_hour: {render(scenario.prices.gpu_hour, '$')} is for one GPU; "
            f"if it is a host's, write {render(round(scenario.prices.gpu_hour / host.gpus, 2), '$')}"
        )
    yield from _batch(scenario)
    yield from _save(scenario)
    for cause in scenario.failures.causes:
        yield from _cause(cause, scenario)


def _gpu(gpu: Gpu) -> Iterator[str]:
    gigabytes = gpu.memory / 1e9
    if gigabytes in LABELS:
        yield (
            f"cluster.host.gpu.memory: {gigabytes:g}GB is {gpu.memory / 2**30:.1f}GiB; "
            f"a GPU labelled {gigabytes:g} GB has {gigabytes:g}GiB"
        )
    bf16 = gpu.peak.get("bf16", gpu.peak.get("fp16", 0.0))
    if bf16 > STEEPEST_RIDGE * gpu.memory_bandwidth:
        yield (
            f"cluster.host.gpu.peak: {render(bf16, 'FLOP/s')} is {bf16 / gpu.memory_bandwidth:.0f} FLOP a byte of "
            f"memory bandwidth; a peak with sparsity is twice the dense one, which belongs here"
        )
    if bf16 and gpu.peak.get("fp8", 0.0) > 3 * bf16:
        yield "cluster.host.gpu.peak.fp8: more than twice the bf16 peak; a peak with sparsity is twice the dense one"
    if gpu.power > HOTTEST_GPU:
        yield f"cluster.host.gpu.power: {gpu.power:g}W is for one GPU; a host's goes to cluster.host.power"


def _host(host: Host) -> Iterator[str]:
    if host.nics and host.nic_bandwidth > FASTEST_NIC:
        gigabytes = host.nic_bandwidth / 1e9
        yield (
            f"cluster.host.nic_bandwidth: {gigabytes:g}GB/s is one NIC's, {8 * gigabytes:g}Gbps; if it counts all "
            f"{host.nics} NICs write {8 * gigabytes / host.nics:g}Gbps, if bits were meant {gigabytes:g}Gbps"
        )
    if host.power and host.power < 0.7 * host.gpus * host.gpu.power:
        yield (
            f"cluster.host.power: {host.power:g}W is the whole host's, less than its {host.gpus} GPUs of "
            f"{host.gpu.power:g}W need"
        )


def _batch(scenario: Scenario) -> Iterator[str]:
    training = scenario.training
    step = training.global_batch * training.sequence_length
    if step > LARGEST_STEP:
        sequences = max(1, training.global_batch // training.sequence_length)
        yield (
            f"training.global_batch: {training.global_batch:,} sequences of {training.sequence_length:,} are "
            f"{step:.3g} tokens a step; if tokens were meant write {sequences:,}"
        )
    if training.tokens is not None and training.tokens < step and training.step_time is None:
        yield f"training.tokens: {training.tokens:,} are less than one step of {step:,}"


def _save(scenario: Scenario) -> Iterator[str]:
    saves, free = scenario.checkpoint, scenario.checkpoint.stall is None and scenario.checkpoint.bytes is None
    if scenario.model is None and scenario.failures.causes and saves.saves and free and not saves.tiers:
        yield "checkpoint: a save costs nothing, for without a model its size is not known; give `stall` or `bytes`"


def _cause(cause: Cause, scenario: Scenario) -> Iterator[str]:
    units = {"gpu": scenario.gpus, "host": scenario.cluster.hosts}.get(cause.unit, 0)
    rate = cause.rate(units) if units else 0.0
    if rate > 1 / 300:
        yield (
            f"failures.causes: {cause.label} strikes every {1 / rate:.3g} s; mtbf is the mean of one {cause.unit}, and "
            f"there are {units:,}"
        )
