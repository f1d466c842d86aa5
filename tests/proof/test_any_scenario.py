"""What must be true of the result of any valid scenario."""

from __future__ import annotations

import io
import json
import re
from dataclasses import replace

import pytest
from any_scenario import SOME, scenarios
from hypothesis import assume, given
from rich.console import Console

from simulator.errors import ForetrainError
from simulator.outcome.results import Result
from simulator.report import record, text
from simulator.scenario import from_dict
from simulator.simulation import predict, simulate
from simulator.trace import chrome

CLOSE = 1e-9


@SOME
@given(scenarios())
def test_a_valid_scenario_is_simulated_and_its_result_adds_up(document):
    try:
        result = simulate(from_dict(document))
    except ForetrainError:
        assume(False)
    step_adds_up(result)
    memory_adds_up(result)
    run_adds_up(result)
    every_output_is_plain(result)


@SOME
@given(scenarios())
def test_a_key_that_gets_a_warning_may_be_left_out(document):
    """No result changes with it, whatever else the scenario says."""
    try:
        scenario = from_dict(document)
        whole = simulate(scenario)
    except ForetrainError:
        assume(False)
    warned = [warning.partition(": no effect here")[0] for warning in scenario.warnings if "no effect here" in warning]
    for key in ", ".join(warned).split(", ") if warned else ():
        try:
            without = simulate(from_dict(document, overrides=[f"{key}=null"]))
        except ForetrainError:
            continue  # a key that must be given, or another mistake
        for part in ("verdict", "memory", "run", "cost", "targets"):
            assert getattr(without, part) == getattr(whole, part), key
        assert replace(without.step, links=()) == replace(whole.step, links=()), key


def step_adds_up(result: Result) -> None:
    step = result.step
    assert sum(step.parts_s.values()) == pytest.approx(step.time_s, rel=CLOSE)
    assert min(step.parts_s.values()) >= -CLOSE * step.time_s
    assert 0 < step.time_low_s <= step.time_s <= step.time_high_s
    assert 0 <= step.mfu <= step.hfu * (1 + CLOSE) <= 1
    assert step.tflops_per_gpu_6n <= step.tflops_per_gpu_causal <= step.tflops_per_gpu_full
    assert all(link["busy_share"] >= 0 for link in step.links)


def memory_adds_up(result: Result) -> None:
    memory = result.memory
    assert 0 <= memory.p_fits <= 1
    assert memory.allocated_bytes <= memory.reserved_bytes <= memory.process_bytes
    for stage in memory.stages:
        assert min(stage.values()) >= 0
        parts = sum(nbytes for name, nbytes in stage.items() if name != "peak_bytes")
        assert parts == pytest.approx(stage["peak_bytes"], rel=CLOSE)
    assert memory.peak_bytes == max(stage["peak_bytes"] for stage in memory.stages)


def run_adds_up(result: Result) -> None:
    run, cost = result.run, result.cost
    wall = run.wall_clock_s
    assert sum(run.parts_s.values()) == pytest.approx(wall.mean, rel=1e-6)
    assert min(run.parts_s.values()) >= -CLOSE * wall.mean
    for spread in (wall, run.goodput, cost.gpu_hours, cost.dollars):
        assert 0 <= spread.p10 <= spread.p50 <= spread.p90
    assert 0 <= run.goodput.mean <= 1 + CLOSE
    assert cost.energy_j >= 0
    assert cost.co2_kg >= 0
    if run.progress:
        assert wall.mean >= run.ideal_s * (1 - CLOSE)
        # The mean of a ratio is no less than the ratio of means where the numerator is the same in every run.
        assert run.goodput.mean >= run.parts_s["train"] / wall.mean * (1 - CLOSE)
    assert sum(run.interruptions["by_cause"].values()) == pytest.approx(run.interruptions["mean"])


def every_output_is_plain(result: Result) -> None:
    """Hold text, JSON and trace to numbers that are numbers."""
    for written in (record.write(result), chrome(result)):
        json.loads(written, parse_constant=pytest.fail)
    told = text.write(result, Console(file=io.StringIO(), width=100))
    assert not re.search(r"\b(nan|inf)\b", told, re.IGNORECASE), told


@SOME
@given(scenarios(simple=True))
def test_the_fast_answer_and_the_simulated_one_agree(document):
    """Two clocks of one step: links that several axes share at once can only make the simulated one longer."""
    try:
        scenario = from_dict(document)
    except ForetrainError:
        assume(False)
    fast, slow = predict(scenario).step_time_s, simulate(scenario).step.time_s
    assert fast * (1 - CLOSE) <= slow <= 2 * fast


@SOME
@given(scenarios(runs=1))
def test_a_result_says_the_scenario_that_gives_it_again(document):
    try:
        result = simulate(from_dict(document))
    except ForetrainError:
        assume(False)
    again = simulate(from_dict(json.loads(json.dumps(result.scenario))))
    assert said(again) == said(result)


def said(result):
    """Return a result without where values came from, and without warnings of keys that only now are written."""
    warnings = tuple(text for text in result.warnings if "no effect here" not in text)
    return replace(result, assumptions=(), warnings=warnings).as_dict()
