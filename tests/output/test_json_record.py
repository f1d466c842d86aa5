"""The JSON of a result has the keys of the contract, and sums that hold."""

from __future__ import annotations

import json
from typing import Any

import pytest

from simulator.outcome.results import RUN_PARTS, STAGE_PARTS, STEP_PARTS, Result
from simulator.report import record

SPREAD = {"mean", "p10", "p50", "p90"}
CONTRACT: dict[str, Any] = {
    "": {"version", "scenario", "seed", "verdict", "warnings", "assumptions", "model"}
    | {"step", "memory", "run", "cost"},
    "step": {"time_s", "time_low_s", "time_high_s", "tokens_per_s", "tokens_per_s_per_gpu", "mfu", "hfu"}
    | {"mfu_convention", "tflops_per_gpu_6n", "tflops_per_gpu_causal", "tflops_per_gpu_full", "parts_s", "p_slow_host"},
    "step.parts_s": set(STEP_PARTS),
    "memory": {"capacity_bytes", "usable_bytes", "peak_bytes", "allocated_bytes", "reserved_bytes", "process_bytes"}
    | {"p_fits", "host_peak_bytes", "host_bytes", "worst_stage", "stages"},
    "memory.stages.0": {f"{part}_bytes" for part in (*STAGE_PARTS, "peak")},
    "run": {
        "ideal_s",
        "wall_clock_s",
        "goodput",
        "goodput_definitions",
        "parts_s",
        "interruptions",
        "checkpoint",
        "spares",
    },
    "run.wall_clock_s": SPREAD,
    "run.goodput": SPREAD,
    "run.parts_s": set(RUN_PARTS),
    "run.interruptions": {"mean", "by_cause", "planned"},
    "run.checkpoint": {"interval_s", "stall_s", "persist_s", "bytes"},
    "run.spares": {"waiting_share", "needed_p99"},
    "cost": {"gpu_hours", "dollars", "energy_j", "co2_kg"},
    "cost.gpu_hours": SPREAD,
    "cost.dollars": SPREAD,
    "model": {"parameters", "active_parameters"},
    "assumptions.0": {"key", "value", "source"},
}


def dig(document: Any, path: str) -> Any:
    for key in path.split(".") if path else []:
        document = document[int(key)] if isinstance(document, list) else document[key]
    return document


@pytest.mark.parametrize("path", CONTRACT)
def test_json_has_the_keys_of_the_contract(path: str, result: Result) -> None:
    assert set(dig(json.loads(record.write(result)), path)) >= CONTRACT[path]


def test_json_is_valid_for_every_result(any_result: Result) -> None:
    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is no JSON")

    json.loads(record.write(any_result), parse_constant=refuse)


def test_what_never_ends_is_null() -> None:
    from example_result import endless

    assert json.loads(record.write(endless()))["run"]["wall_clock_s"]["p50"] is None


def test_parts_of_the_example_sum_to_their_totals(result: Result) -> None:
    assert sum(result.step.parts_s.values()) == pytest.approx(result.step.time_s, rel=1e-9)
    assert sum(result.run.parts_s.values()) == pytest.approx(result.run.wall_clock_s.mean, rel=1e-9)
