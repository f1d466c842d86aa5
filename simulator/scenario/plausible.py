"""Values that may be meant but probably are not: each gets a warning with the likely meaning.

Labels of memory are GiB, links are counted per direction and per device, peaks are dense, a batch counts
sequences, prices are per GPU: the mix-ups that are common in data sheets and spreadsheets.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from simulator.machine.domains import mapped
from simulator.reliability.failures.base import Cause
from simulator.reliability.failures.trace import Trace
from simulator.reliability.fleet import Planned
from simulator.scenario import plausible_hardware
from simulator.scenario.scenario import Scenario

LARGEST_STEP = 5e8
"""Tokens; the largest published batches are below 1e8."""
SMALL = 1 / 20
"""Of the GPUs of a preset's fleet: a cluster below that runs other jobs than the one it was counted on."""


def warnings(scenario: Scenario) -> Iterator[str]:
    """Yield a warning for each value that is probably a mix-up."""
    host = scenario.cluster.host
    yield from plausible_hardware.of_gpu(host.gpu)
    yield from plausible_hardware.of_host(host)
    yield from plausible_hardware.of_prices(scenario.prices, host.gpus)
    yield from _batch(scenario)
    yield from _optimizer(scenario)
    yield from _ring(scenario)
    yield from _save(scenario)
    yield from _job_causes(scenario)
    for cause in scenario.failures.causes:
        yield from _cause(cause, scenario)


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


def _optimizer(scenario: Scenario) -> Iterator[str]:
    warning = scenario.training.optimizer.warning
    if warning and scenario.training.step_time is None:
        yield f"training.optimizer: {warning}"


def _ring(scenario: Scenario) -> Iterator[str]:
    if scenario.ring_is_cut and scenario.parallelism:
        host, tensor = scenario.cluster.host, scenario.parallelism.tensor
        reach = mapped(host, scenario.cluster.topology, scenario.gpus)
        where = f"links of a domain of {reach} GPUs" if reach > 1 else "no links but PCIe and NICs"
        yield (
            f"stack.async_tensor: `ring` sends from inside kernels, which needs GPUs that map each other's memory; "
            f"tensor {tensor} has {where} for it, so that `bulk` is simulated"
        )


def _save(scenario: Scenario) -> Iterator[str]:
    saves, free = scenario.checkpoint, scenario.checkpoint.stall is None and scenario.checkpoint.bytes is None
    if scenario.model is None and scenario.failures.causes and saves.saves and free and not saves.tiers:
        yield "checkpoint: a save costs nothing, for without a model its size is not known; give `stall` or `bytes`"


def _job_causes(scenario: Scenario) -> Iterator[str]:
    """A job of a few hosts is not stopped by software as often as the one of thousands that a preset counted."""
    failures, cluster = scenario.failures, scenario.cluster
    if failures.preset is None or failures.size is None or scenario.gpus >= SMALL * failures.size:
        return
    units = {"gpu": scenario.gpus, "host": cluster.hosts, "nic": cluster.hosts * cluster.host.nics, "job": 1}
    if any(cause.interrupts and cause.unit not in units for cause in failures.causes):
        return
    of_jobs = replace(failures, causes=tuple(cause for cause in failures.causes if cause.unit == "job")).rate(units)
    share = of_jobs / rate if (rate := failures.rate(units)) > 0 else 0.0
    if share > 0.5:
        stops = " and planned stops" if isinstance(failures.planned, Planned) else ""
        yield (
            f"failures: {100 * share:.3g}% of interruptions are causes of the job as a whole, which preset "
            f"{failures.preset} counts on {failures.size:,} GPUs; with {scenario.gpus:,} GPUs they{stops} strike as "
            "often. `size_exponent` does not change them; write `causes` of your own, or take another preset, "
            "such as rsc_all_causes, which is of jobs of 8 to 1,024 GPUs"
        )


def _cause(cause: Cause, scenario: Scenario) -> Iterator[str]:
    units = {"gpu": scenario.gpus, "host": scenario.cluster.hosts}.get(cause.unit, 0)
    rate = cause.rate(units) if units else 0.0
    if rate > 1 / 300:
        yield (
            f"failures.causes: {cause.label} strikes every {1 / rate:.3g} s; mtbf is the mean of one {cause.unit}, and "
            f"there are {units:,}"
        )
    replaced = scenario.cluster.spares is None and cause.interrupts
    if replaced and isinstance(cause, Trace) and any(event.away for event in cause.logged):
        yield (
            f"failures.causes: the downtimes in the log of {cause.label} change nothing without `cluster.spares`: "
            "failed hosts are replaced at once"
        )
