"""A published run -> lines of the result: step time, memory in the row's own kind and unit, P(out of memory)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol

from simulator.errors import ForetrainError
from simulator.outcome.intervals import comparable
from simulator.scenario import Scenario
from simulator.units import Bytes, Seconds
from simulator.validation import baseline, rules
from simulator.validation.expression import InexpressibleError
from simulator.validation.lines import Line
from simulator.validation.row import Row
from simulator.validation.rows import expression
from simulator.workload.memory import MemoryEstimate

SUITE, STEP_TIME, MEMORY, OOM = "runs", "step_time_s", "mem_gb", "oom"
UNITS = {"GB": 1e9, "GiB": 2.0**30}
DEFECT = "a defect of the program"
"""How a row is noted whose prediction fails for another reason than its content; the other rows go on."""
KINDS = {"allocated": "allocated", "active": "allocated", "reserved": "reserved", "process": "process"}
"""Kind of a row's memory -> kind predicted; active bytes are those of live tensors, as allocated ones are."""


class Prediction(Protocol):
    """What is predicted of one scenario."""

    @property
    def step_time_s(self) -> Seconds: ...
    @property
    def time_low_s(self) -> Seconds: ...
    @property
    def time_high_s(self) -> Seconds: ...
    @property
    def memory(self) -> MemoryEstimate: ...


Predictor = Callable[[Scenario], Prediction]


def lines(row: Row, predictor: Predictor) -> Iterator[Line]:
    """Yield a line for each quantity that the row measured; the reason instead of a prediction if it has none."""
    answers: dict[str, dict[str, Any]] = {}
    try:
        scenario, prediction, notes = predict(row, predictor)
        answers = _answers(row, scenario, prediction)
    except (InexpressibleError, ForetrainError) as error:
        notes = (" ".join(str(error).split()),)
    except Exception as error:
        notes = (f"{DEFECT}: {type(error).__name__}: {error}",)
    for quantity, unit, measured in measurements(row):
        yield Line(
            suite=SUITE,
            id=row.text("id"),
            family=row.text("family"),
            group=row.text("group"),
            scored=quantity != STEP_TIME or row.text("score_time") in ("", "1", "1.0"),
            quantity=quantity,
            unit=unit,
            measured=measured,
            note="; ".join(notes),
            **answers.get(quantity, {}),
        )


def measurements(row: Row) -> tuple[tuple[str, str, float | None], ...]:
    """Return quantity, unit and value of everything that the row measured; an empty step time if that is nothing."""
    values = (
        (STEP_TIME, "s", step_time(row)),
        (MEMORY, row.text("memory_unit") or "GB", row.real("mem_gb")),
        (OOM, "1", row.real("oom")),
    )
    return tuple(value for value in values if value[2] is not None) or values[:1]


def step_time(row: Row) -> Seconds | None:
    """Return the step as measured, or as tokens a second on each GPU and the batch give it."""
    if time := row.real("step_time_s"):
        return time
    rate, gpus, sequence = row.real("tokens_per_s_per_gpu"), row.real("gpus"), row.real("seq")
    batch = row.real("global_batch")
    return batch * sequence / (rate * gpus) if rate and gpus and sequence and batch else None


def predict(row: Row, predictor: Predictor) -> tuple[Scenario, Prediction, tuple[str, ...]]:
    """Return the scenario of the row and its prediction; the fastest that fits where the microbatch is left open."""
    from simulator.scenario import from_dict

    said = expression(row)
    tried = [(scenario := from_dict(plain), predictor(scenario)) for plain in said.scenarios]
    scenario, prediction = min(tried, key=lambda pair: (pair[1].memory.p_fits < 0.5, pair[1].step_time_s))
    chosen = (f"microbatch {scenario.training.microbatch}: fastest that fits",) if len(tried) > 1 else ()
    return scenario, prediction, (*said.notes, *chosen)


def _answers(row: Row, scenario: Scenario, prediction: Prediction) -> dict[str, dict[str, Any]]:
    answers: dict[str, dict[str, Any]] = {
        STEP_TIME: {
            "predicted": prediction.step_time_s,
            "low": prediction.time_low_s,
            "high": prediction.time_high_s,
            "ideal": baseline.ideal(scenario),
            "generation": baseline.generation(scenario),
            "comparable": comparable(scenario),
        },
        OOM: {"predicted": 1 - prediction.memory.p_fits},
    }
    kind, unit = KINDS.get(row.text("memory_kind") or rules.memory_kind()), UNITS.get(row.text("memory_unit") or "GB")
    if kind and unit:
        memory = prediction.memory
        peak = peak_bytes(memory, kind, 0 if row.text("memory_whose") == "rank0" else memory.worst_stage) / unit
        low, high = (peak * bound / memory.peak_bytes for bound in (memory.low_bytes, memory.high_bytes))
        answers[MEMORY] = {"predicted": peak, "low": low, "high": high}
    return answers


def peak_bytes(memory: MemoryEstimate, kind: str, stage: int) -> Bytes:
    """Return the peak on a stage as allocated, reserved or process memory.

    The allocator reserves on every stage the share beyond allocated memory that it reserves on the worst.
    """
    parts = memory.stages[stage]
    overhead = parts["overhead_bytes"]
    allocated = parts["peak_bytes"] - overhead
    reserved = allocated * memory.reserved_bytes / memory.allocated_bytes
    return {"allocated": allocated, "reserved": reserved, "process": reserved + overhead}[kind]
