"""The section on memory: what fills the GPU of the worst stage at its peak."""

from __future__ import annotations

from collections.abc import Iterator

from simulator.io.readable import chance, memory, percent
from simulator.outcome.results import STAGE_PARTS, Advice, Result
from simulator.plots import colours
from simulator.report.fit import command, gains, margin
from simulator.report.section import Fact, Part, Section

SHOWN = 3
"""Changes that are shown; the JSON has all."""


def section(result: Result) -> Section | None:
    estimate = result.memory
    if estimate is None:
        return None
    worst = estimate.stages[estimate.worst_stage]
    parts = {part: worst[f"{part}_bytes"] for part in STAGE_PARTS}
    return Section(
        name="memory",
        title="Memory",
        answer=f"{memory(estimate.peak_bytes)} at the peak of stage {estimate.worst_stage} of {len(estimate.stages)},"
        f" {percent(estimate.peak_bytes / estimate.usable_bytes)} of what is usable",
        parts=tuple(
            Part(
                label=part,
                value=f"{size / 2**30:,.2f} GiB",
                share=size / estimate.peak_bytes,
                colour=colours.MEMORY[part],
            )
            for part, size in parts.items()
            if size > 0
        ),
        facts=(
            Fact(
                label="P(fits)",
                value=chance(estimate.p_fits),
                note=margin(estimate, result.verdict or ""),
            ),
            Fact(
                label="usable",
                value=memory(estimate.usable_bytes),
                note=f"of {memory(estimate.capacity_bytes)} on a GPU",
            ),
            Fact(label="allocated", value=memory(estimate.allocated_bytes), note="what tensors take"),
            Fact(label="reserved", value=memory(estimate.reserved_bytes), note="with the allocator's slack"),
            Fact(label="process", value=memory(estimate.process_bytes), note="what nvidia-smi shows"),
            *_host(estimate.host_peak_bytes, estimate.host_bytes),
            *_advice(result.advice),
        ),
        pictures=("memory_by_stage", "memory_over_step"),
    )


def _host(peak: float, whole: float) -> tuple[Fact, ...]:
    note = f"of {memory(whole)} on a host" if whole else "on the fullest host"
    return (Fact(label="host memory", value=memory(peak), note=note),) if peak > 0 else ()


def _advice(advice: tuple[Advice, ...]) -> Iterator[Fact]:
    """The cheapest changes that make it fit."""
    for place, one in enumerate(advice[:SHOWN]):
        yield Fact(label="" if place else "to make it fit", value=one.change, note=f"{gains(one)}: {command(one)}")
