"""Memory of one stage over a step: what is allocated while each of its tasks runs and after it.

The tasks may come from the schedule or from the clock, each in the order in which it ran; the largest value is the
peak of the stage either way.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from simulator.sums import added
from simulator.units import Bytes
from simulator.workload.holdings import played
from simulator.workload.replica import Replica
from simulator.workload.schedules import Task
from simulator.workload.stage_peak import at_update, during, sizes, still, updating, waiting


class Allocation(NamedTuple):
    """Allocated bytes of a stage while `task` runs, at most, and once it is done."""

    task: Task
    during: Bytes
    after: Bytes


def allocations(replica: Replica, stage: int, tasks: Iterable[Task] | None = None) -> tuple[Allocation, ...]:
    """Return the allocated bytes of `stage`, task by task.

    Tasks are in the order of its schedule unless they are given.
    """
    schedule, rank, held = replica.schedule, replica.rank, replica.stages[stage]
    size, base = sizes(replica, held), added(still(replica, held).values()) - rank.stack.process_overhead
    order = schedule.tasks(stage, rank.pipeline, replica.microbatches) if tasks is None else tasks
    result = []
    for task, moment in played(order, schedule.chunks_per_stage):
        moving = waiting(size, moment) + added(n * kept for n, kept in zip(moment.counts, size.kept, strict=True))
        after = base + moving
        if task.phase in "BW":
            own = size.kept[task.chunk]
            loss = size.head.waiting if task.phase == "B" else size.head.delayed
            after -= own + (loss if size.heads[task.chunk] else 0.0)
        elif task.phase == "I" and size.heads[task.chunk]:
            after += size.head.delayed - size.head.waiting
        peak = base + (moving if task.phase == "W" else added(during(size, moment)))
        result.append(Allocation(task, peak, after))
    return tuple(result)


def update(replica: Replica, stage: int) -> Bytes:
    """Return the allocated bytes of `stage` while its weights are updated, after its last task."""
    held = replica.stages[stage]
    parts = at_update(still(replica, held), updating(replica, held))
    return added(parts.values()) - parts["overhead"]
