"""Memory over a step: simulated moment by moment, in the trace and as a picture."""

from __future__ import annotations

import json
from typing import Any

import pytest
from matplotlib.figure import Figure

from simulator.engine.step.simulated import Span
from simulator.kinds import kinds
from simulator.outcome.occupancy import levels
from simulator.outcome.results import Level, Result
from simulator.plots import memory_over_step
from simulator.scenario import from_dict
from simulator.simulation import simulate
from simulator.trace import chrome
from simulator.workload.memory_timeline import Allocation
from simulator.workload.schedules import Schedule, Task

GIVEN: dict[str, Any] = {
    "version": 1,
    "model": {"base": "llama-3.1-8b", "layers": 16},
    "cluster": {"host": "hgx-h100", "hosts": 1},
    "stack": "megatron-core-2024",
    "parallelism": {"tensor": 2, "pipeline": 4},
    "training": {"steps": 10, "sequence_length": 4096, "global_batch": 16},
    "runs": 1,
}
SCHEDULES = sorted(kinds("simulator.workload.schedules", Schedule))


def played(kind: str) -> Result:
    return simulate(from_dict(GIVEN, overrides=[f"stack.schedules=[{kind}]", f"parallelism.schedule={kind}"]))


@pytest.mark.parametrize("kind", SCHEDULES)
def test_the_highest_level_is_the_peak_of_each_stage(kind):
    result = played(kind)
    assert result.memory is not None
    for stage, over in zip(result.memory.stages, result.occupancy, strict=True):
        highest = max(level.nbytes for level in over)
        assert highest + stage["overhead_bytes"] == pytest.approx(stage["peak_bytes"])


@pytest.mark.parametrize("kind", SCHEDULES)
def test_a_step_ends_with_as_much_as_it_began(kind):
    result = played(kind)
    assert result.memory is not None
    for stage, over in zip(result.memory.stages, result.occupancy, strict=True):
        still = sum(stage[f"{part}_bytes"] for part in ("weights", "gradients", "optimizer", "buffers"))
        assert over[-1].nbytes == pytest.approx(still)
        assert min(level.nbytes for level in over) == pytest.approx(still)


def test_levels_are_in_order_and_within_the_step():
    result = played("1f1b")
    end = max(span.start + span.duration for span in result.spans)
    for over in result.occupancy:
        times = [level.time_s for level in over]
        assert times == sorted(times)
        assert times[0] == 0
        assert times[-1] <= end


def test_a_task_has_its_most_from_its_start_to_its_end():
    tasks = (Allocation(Task("F", 0), 5.0, 3.0), Allocation(Task("B", 0), 6.0, 1.0))
    spans = (Span("stage 0", "F0", 2.0, 1.0, "F"), Span("stage 0", "B0", 4.0, 2.0, "B"))
    assert levels(tasks, spans) == ((0.0, 1.0), (2.0, 5.0), (3.0, 3.0), (4.0, 6.0), (6.0, 1.0))


def test_a_task_without_a_span_takes_no_time():
    tasks = (Allocation(Task("F", 0), 5.0, 3.0), Allocation(Task("B", 0), 6.0, 1.0))
    assert levels(tasks, (Span("stage 0", "F0", 0.0, 1.0, "F"),)) == ((0.0, 5.0), (1.0, 6.0), (1.0, 1.0))


def test_the_trace_counts_the_memory_of_every_stage(result: Result):
    counters = [event for event in json.loads(chrome(result))["traceEvents"] if event["ph"] == "C"]
    for number, over in enumerate(result.occupancy):
        mine = [event for event in counters if event["pid"] == number + 1]
        assert [event["ts"] for event in mine] == pytest.approx([1e6 * level.time_s for level in over])
        assert [event["args"]["allocated GiB"] for event in mine] == pytest.approx(
            [level.nbytes / 2**30 for level in over], abs=5e-4
        )


def test_the_json_leaves_it_to_the_trace(result: Result):
    assert "occupancy" not in result.as_dict()


def test_the_picture_marks_the_first_moment_of_the_peak(result: Result):
    assert result.memory is not None
    worst = result.memory.worst_stage
    moment, highest = memory_over_step.peak(result.occupancy[worst])
    axes = memory_over_step.draw(result, Figure().add_subplot())
    mark = next(line for line in axes.lines if line.get_marker() == "o")
    seconds, height = (float(values[0]) for values in mark.get_data())
    scale = 1e3 if "(ms)" in axes.get_xlabel() else 1.0
    assert seconds / scale == pytest.approx(moment)
    overhead = result.memory.stages[worst]["overhead_bytes"]
    assert height * 2**30 == pytest.approx(highest + overhead)


def test_the_peak_is_the_first_of_equals():
    assert memory_over_step.peak((Level(0.0, 1.0), Level(2.0, 7.0), Level(3.0, 7.0))) == (2.0, 7.0)
