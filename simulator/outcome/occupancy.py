"""Memory over a step: what each stage has allocated at every moment, from the tasks as the clock played them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise

from simulator.engine.step.simulated import Span
from simulator.outcome.results import Level
from simulator.scenario.scenario import Scenario
from simulator.units import Bytes, Seconds
from simulator.workload.memory_timeline import Allocation, allocations, update

PHASES = "FBIW"


def occupancy(scenario: Scenario, spans: Sequence[Span]) -> tuple[tuple[Level, ...], ...]:
    """Return the allocated memory of each stage over a step whose spans are given, as levels that hold until the next.

    A task has its most from its start to its end; then what it frees is free. The update comes after the last task. The
    largest level and the overhead are the peak of the stage.
    """
    played: dict[str, list[Span]] = defaultdict(list)
    for span in spans:
        if span.kind in PHASES:
            played[span.track].append(span)
    return tuple(
        levels(allocations(scenario.replica, stage), played[f"stage {stage}"], update(scenario.replica, stage))
        for stage in range(scenario.rank.pipeline)
    )


def levels(allocated: Iterable[Allocation], spans: Iterable[Span], updating: Bytes = 0.0) -> tuple[Level, ...]:
    """Return the levels of one stage: its tasks in their order, each at the time of its span, and its update.

    A task that took no time has no span; it happens when the one before ends. So does the update.
    """
    waiting = iter(sorted(spans, key=lambda span: span.start))
    span, clock = next(waiting, None), 0.0
    found: list[Level] = []
    for task, during, after in allocated:
        start = end = clock
        if span is not None and span.name == f"{task.phase}{task.microbatch}":
            start, end = span.start, span.start + span.duration
            span = next(waiting, None)
        _add(found, start, during)
        _add(found, end, after)
        clock = end
    if found and updating > found[-1].nbytes:
        idle = found[-1].nbytes
        _add(found, clock, updating)
        _add(found, clock, idle)
    if found and found[0].time_s > 0:
        found.insert(0, Level(0.0, found[-1].nbytes))
    return tuple(level for before, level in pairwise((Level(0.0, -1.0), *found)) if level.nbytes != before.nbytes)


def _add(found: list[Level], time: Seconds, nbytes: Bytes) -> None:
    """Add a level; one that another replaces at once goes, unless it was higher."""
    if found and found[-1].time_s == time and found[-1].nbytes <= nbytes:
        found.pop()
    found.append(Level(time, nbytes))
