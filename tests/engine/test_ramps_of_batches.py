"""Phases are a part of the run: what they leave of it is done in the steps that the scenario says."""

from __future__ import annotations

import pytest

from simulator.scenario import from_dict
from simulator.simulation import predict, useful_work

STEP = 1024 * 64
RAMP = [{"tokens": 32 * 1024 * 10, "global_batch": 32}, {"tokens": 16 * 1024 * 20, "global_batch": 16}]
MEASURED = {"sequence_length": 1024, "global_batch": 64, "step_time": "2s"}
"""10 steps and 20, of 2 s each."""


def work(training: dict) -> float:
    scenario = from_dict({"cluster": {"host": "hgx-h100", "hosts": 1}, "training": MEASURED | training})
    return useful_work(scenario, 2.0)


def test_tokens_after_the_ramp_are_trained_too():
    assert work({"tokens": 10 * STEP + 90 * STEP, "phases": RAMP}) == 2 * (10 + 20 + 90)


def test_steps_after_the_ramp_are_done_too():
    assert work({"steps": 100, "phases": RAMP}) == 2 * 100


def test_phases_alone_are_the_run():
    assert work({"phases": RAMP}) == 2 * 30


def test_a_run_of_a_given_length_takes_that():
    assert work({"duration": "9d", "phases": RAMP}) == 9 * 86400.0


def test_a_phase_takes_the_step_of_its_batch():
    document = {
        "model": "llama-3.1-8b",
        "cluster": {"host": "hgx-h100", "hosts": 1},
        "parallelism": {"tensor": 8},
        "training": {"steps": 100, "sequence_length": 1024, "global_batch": 8},
    }
    ramp = {"phases": [{"tokens": 40 * 4 * 1024, "global_batch": 4}]}
    whole = from_dict(document)
    half = from_dict(document | {"training": document["training"] | {"global_batch": 4}})
    ramped = from_dict(document | {"training": document["training"] | ramp})
    step, short = predict(whole).step_time_s, predict(half).step_time_s
    assert useful_work(ramped, step) == pytest.approx(40 * short + 60 * step)
