"""The roofline is the best of what was measured, and bounds everything below it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from simulator.cli import app
from simulator.errors import ScenarioError
from simulator.lab import machine
from simulator.lab.backends import backend
from simulator.lab.corpus import corpus
from simulator.lab.roofline import Point, Roofline
from simulator.lab.stopwatch import seconds
from simulator.scenario import from_dict

MADE = Roofline(
    "numpy",
    "made",
    (
        Point("product", "fp32", 64, 5e5, 5e4, 1e-5),
        Point("product", "fp32", 1024, 2e9, 1e7, 2e-2),
        Point("sum", "fp32", 1 << 14, 1.6e4, 2e5, 1e-6),
        Point("sum", "fp32", 1 << 25, 3.3e7, 4e8, 4e-2),
    ),
)


def test_peak_is_the_best_product_and_bandwidth_that_of_large_sums():
    assert MADE.peak == {"fp32": 1e11}
    assert MADE.bandwidth == pytest.approx(1e10)
    assert MADE.ridge("fp32") == pytest.approx(10)


def test_below_the_ridge_memory_binds_and_above_it_arithmetic():
    assert MADE.attainable(1.0, "fp32") == pytest.approx(1e10)
    assert MADE.attainable(100.0, "fp32") == pytest.approx(1e11)
    assert MADE.attainable(MADE.ridge("fp32"), "fp32") == pytest.approx(MADE.peak["fp32"])


def test_a_measured_machine_can_stand_in_a_scenario():
    scenario = from_dict(
        {
            "version": "1",
            "model": "gpt-2",
            "cluster": {
                "host": {
                    "gpu": machine.described(MADE),
                    "gpus": "1",
                    "scale_up": {"domain": "1"},
                    "nics": "1",
                    "nic_bandwidth": "1GB/s",
                },
                "hosts": "1",
            },
            "training": {"steps": "1", "sequence_length": "128", "global_batch": "1", "precision": "fp32"},
        }
    )
    assert scenario.cluster.host.gpu.peak_of("fp32") == 1e11


def test_numpy_is_always_there_and_other_names_are_refused():
    assert backend("numpy").name == "numpy"
    with pytest.raises(ScenarioError, match="no backend named"):
        backend("abacus")


def test_the_stopwatch_gives_the_time_of_one_call():
    calls = []
    assert 0 < seconds(lambda: calls.append(1), least=0.001) < 1e-3
    assert len(calls) > 10


def test_the_corpus_is_source_and_its_parts_are_apart():
    training, held_out = corpus(200_000.0)
    assert len(training) > len(held_out) > 0
    assert b"def " in training.tobytes()


def test_measuring_writes_a_machine_and_a_drawing(tmp_path: Path):
    done = CliRunner().invoke(
        app,
        [
            "lab",
            "roofline",
            "--backend",
            "numpy",
            "--quick",
            "--json",
            "--out",
            str(tmp_path / "gpu.yaml"),
            "--plot",
            str(tmp_path / "roof.svg"),
        ],
    )
    assert done.exit_code == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["bandwidth_bytes_per_s"] > 1e7
    assert found["ridge_flops_per_byte"]["fp32"] > 0
    assert yaml.safe_load((tmp_path / "gpu.yaml").read_text()).keys() == {"memory", "memory_bandwidth", "peak"}
    assert (tmp_path / "roof.svg").stat().st_size > 1000


def test_an_unknown_experiment_is_refused():
    done = CliRunner().invoke(app, ["lab", "alchemy"])
    assert done.exit_code == 2
    assert "there are roofline, scaling, data-parallel" in done.stderr
