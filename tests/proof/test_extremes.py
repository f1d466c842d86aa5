"""Extreme and valid input: an answer with finite numbers, or a sentence that says why there is none, soon."""

from __future__ import annotations

import copy
import io
import json
import re
import time
from contextlib import suppress

import pytest
from rich.console import Console

from simulator.engine.run import Outcome, RunInput
from simulator.engine.run.limits import MOST_IN_ALL, START_OF_A_RUN, refuse_more
from simulator.errors import ForetrainError, ScenarioError
from simulator.report import record, text
from simulator.report.rows import csv_text
from simulator.scenario import from_dict
from simulator.simulation import simulate
from simulator.studies import columns
from simulator.trace import chrome

START = {
    "model": "llama-3.1-8b",
    "cluster": {"host": "hgx-h100", "hosts": 4},
    "training": {"tokens": "1T", "sequence_length": 8192, "global_batch": 64},
    "failures": "llama3",
    "recovery": {"repair": "24h"},
    "prices": {"gpu_hour": "$2"},
    "runs": 2,
}
SMALLEST = {
    "model": {"layers": 1, "hidden": 1, "heads": 1, "vocabulary": 1},
    "cluster": {"host": {"base": "hgx-h100", "gpus": 1, "nics": 0}, "hosts": 1},
    "training": {"steps": 1, "sequence_length": 1, "global_batch": 1},
    "runs": 1,
}


def finite(document, *overrides, within=10.0):
    """Return the result of a scenario after holding its numbers to what must be true of all."""
    start = time.process_time()
    result = simulate(from_dict(copy.deepcopy(document), overrides=overrides))
    assert time.process_time() - start < within
    for written in (record.write(result), chrome(result)):
        json.loads(written, parse_constant=pytest.fail)
    row = columns.of_result(result, result.scenario["cluster"]["hosts"])
    for told in (text.write(result, Console(file=io.StringIO(), width=100)), csv_text([row])):
        assert not re.search(r"(?<![\w-])(nan|inf)(?![\w-])", told, re.IGNORECASE), told
    assert sum(result.step.parts_s.values()) == pytest.approx(result.step.time_s, rel=1e-9)
    assert sum(result.run.parts_s.values()) == pytest.approx(result.run.wall_clock_s.mean, rel=1e-6)
    for part, seconds in {**result.step.parts_s, **result.run.parts_s}.items():
        assert seconds >= -1e-9 * result.run.wall_clock_s.mean, part
    assert 0 <= result.step.mfu <= 1
    return result


def one_cause(mtbf, unit, effect):
    cause = {"kind": "exponential", "unit": unit, "mtbf": mtbf, "effect": effect, "lasts": "1h"}
    return {**START, "failures": {"causes": [cause]}}


def test_one_gpu_one_layer_one_token():
    result = finite(SMALLEST, "checkpoint=none")
    assert result.run.wall_clock_s.mean == result.step.time_s


@pytest.mark.parametrize("hosts", [16_384, pytest.param(125_000, marks=pytest.mark.slow)])
def test_a_hundred_thousand_gpus_and_a_million(hosts):
    finite(START, f"cluster.hosts={hosts}", f"training.global_batch={8 * hosts}", "runs=1", within=30.0)


@pytest.mark.parametrize("length", [10_240_000, 1_000_000_000])
def test_a_sequence_of_ten_million_tokens_and_of_a_billion(length):
    # A step of a billion tokens takes an hour, so that a run meets a hundred thousand failures.
    finite(START, f"training.sequence_length={length}", "training.tokens=1G", "training.global_batch=32", within=40.0)


@pytest.mark.parametrize("unit", ["gpu", "host", "job"])
@pytest.mark.parametrize("mtbf", ["1s", "1ms", "1e-20s"])
def test_failures_every_second_let_no_run_make_progress(unit, mtbf):
    assert not finite(one_cause(mtbf, unit, "crash")).run.progress


@pytest.mark.parametrize("mtbf", ["1ms", "1e-20s"])
def test_silent_corruption_every_moment_lets_no_run_make_progress(mtbf):
    assert not finite(one_cause(mtbf, "gpu", "corrupt")).run.progress


@pytest.mark.parametrize("effect", ["crash", "slow", "degrade", "corrupt", "flap"])
def test_failures_once_in_a_million_years_do_nothing(effect):
    run = finite(one_cause("1000000y", "job", effect)).run
    assert run.interruptions["mean"] == 0
    assert run.wall_clock_s.mean == pytest.approx(run.ideal_s, rel=1e-3)


@pytest.mark.parametrize(
    ("document", "override", "message"),
    [
        (one_cause("1s", "gpu", "slow"), "runs=2", "gpu exponential in one run; 300,000 is the most"),
        (one_cause("1s", "job", "degrade"), "runs=2", "job exponential in one run; 300,000 is the most"),
        (START, "runs=100000", "runs: 100,000 runs with about 81 failures, stops and evaluations each are too much"),
        (START, "failures={planned: {every: 1s, time: 1s}}", "planned stops in one run; 300,000 is the most"),
        (START, "training={steps: 1e12, sequence_length: 8192, global_batch: 64}", "300,000 is the most"),
        (START, "training.global_batch=32M", "1,000,000 microbatches a step are too much; 400,000 are the most"),
        (
            {
                **START,
                "cluster": {"host": "hgx-h100", "hosts": 1000},
                "model": {"base": "llama-3.1-8b", "layers": 8000},
            },
            "parallelism={pipeline: 8000}",
            "64 microbatches a step through 8,000 chunks of layers each are too much; 50 are the most",
        ),
    ],
)
def test_what_would_take_hours_is_refused_at_once(document, override, message):
    start = time.process_time()
    with pytest.raises(ScenarioError) as caught:
        simulate(from_dict(copy.deepcopy(document), overrides=[override]))
    assert message in str(caught.value)
    assert time.process_time() - start < 5


@pytest.mark.parametrize("happenings", [0, 1, 81, 2500, 299_999])
def test_as_many_runs_are_simulated_as_the_refusal_says(happenings):
    run = RunInput(work=1e6, units={"gpu": 8, "host": 1})
    first = Outcome(wall_clock=1e6, parts={}, interruptions={"gpu": happenings}, planned=0, uptime=1e6, progress=True)
    with pytest.raises(ScenarioError) as refused:
        refuse_more(run, first, 10_000_000)
    most = int(re.search("at most ([0-9,]+)", str(refused.value))[1].replace(",", ""))
    assert 0.9 * MOST_IN_ALL <= most * (happenings + START_OF_A_RUN) <= MOST_IN_ALL or most < 10
    refuse_more(run, first, most)


@pytest.mark.parametrize(
    "override",
    [
        "training.microbatch=1",
        "cluster.storage={write: 1B/s, read: 1B/s}",
        "cluster.storage={write: 1e20B/s, read: 1e20B/s}",
        "cluster.host.nic_bandwidth=1B/s",
        "cluster.host.nic_bandwidth=1e20B/s",
        "cluster.host.gpu.memory_bandwidth=1B/s",
        "cluster.host.gpu.peak={bf16: 1e30FLOPS}",
        "cluster.host.gpu.power=0W",
        "model={layers: 1, hidden: 1, heads: 1, vocabulary: 1}",
        "model={base: llama-3.1-8b, vocabulary: 1e6}",
        "jitter={gpu: 1000%, step: 1000%, slow_hosts: 100%, slow: 1e6}",
        "recovery={detect: 0s, restart: 0s, repair: 1000000y}",
        "failures={preset: llama3, scale: 1e-30}",
        "prices={gpu_hour: $1e30}",
        "training.evaluation={every: 1, time: 0s}",
    ],
)
def test_the_smallest_and_the_largest_of_each_part(override):
    with suppress(ForetrainError):
        finite(START, override)


def test_what_costs_nothing_costs_nothing():
    free = "prices={gpu_hour: $0, electricity: $0/kWh, carbon: 0kg/kWh}"
    cost = finite(START, free).cost
    assert (cost.dollars.mean, cost.co2_kg) == (0, 0)
    assert cost.gpu_hours.mean > 0
