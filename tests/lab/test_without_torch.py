"""Without PyTorch the experiments that need it say how to install it."""

from __future__ import annotations

import importlib.util

import pytest
from typer.testing import CliRunner

from simulator.cli import app


@pytest.mark.skipif(importlib.util.find_spec("torch") is not None, reason="PyTorch is installed")
@pytest.mark.parametrize("arguments", [("scaling",), ("data-parallel",), ("roofline", "--backend", "torch")])
def test_the_command_that_installs_it_is_named(arguments: tuple[str, ...]):
    done = CliRunner().invoke(app, ["lab", *arguments])
    assert done.exit_code == 2
    assert "pip install foretrain[torch]" in done.stderr
