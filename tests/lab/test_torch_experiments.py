"""The experiments that need PyTorch, small: parameters, learning, gradients over processes."""

from __future__ import annotations

import importlib.util
import json

import pytest
from typer.testing import CliRunner

from simulator.cli import app

TORCH = importlib.util.find_spec("torch") is not None
pytestmark = pytest.mark.torch


@pytest.mark.skipif(not TORCH, reason="PyTorch is not installed")
class TestWithTorch:
    def test_sizes_of_the_study_are_those_of_the_tutorial(self):
        from simulator.lab.byte_gpt import model
        from simulator.lab.scaling import SHAPES

        assert [shape.parameters for shape in SHAPES] == [12_288, 55_296, 221_184, 589_824, 1_769_472]
        for shape in SHAPES:
            net = model(shape)
            matrices = sum(w.numel() for name, w in net.named_parameters() if w.dim() == 2 and "blocks" in name)
            assert matrices == shape.parameters

    def test_a_model_learns_and_the_same_seed_learns_the_same(self):
        from simulator.lab.byte_gpt import Shape
        from simulator.lab.scaling import study

        one, two = (list(study((Shape(1, 32),), (5, 25))) for _ in range(2))
        assert one == two
        assert one[1].loss < one[0].loss < 5.6
        assert [row.tokens for row in one] == [10_240, 51_200]

    def test_averaged_gradients_are_those_of_the_whole_batch(self):
        done = CliRunner().invoke(app, ["lab", "data-parallel", "--quick", "--ranks", "2", "--json"])
        assert done.exit_code == 0, done.stderr
        found = json.loads(done.stdout)
        assert found["gradient_difference"] < 1e-6
        assert found["measured_step_s"] > found["measured_all_reduce_s"] > 0
        assert found["predicted_step_s"] > 0

    def test_torch_measures_a_roofline_too(self):
        done = CliRunner().invoke(app, ["lab", "roofline", "--backend", "torch", "--quick", "--json"])
        assert done.exit_code == 0, done.stderr
        assert json.loads(done.stdout)["backend"] == "torch"
