"""Experiments that need PyTorch say so before they start."""

from __future__ import annotations

from importlib.util import find_spec

from simulator.errors import ScenarioError
from simulator.lab.backend import TORCH


def check() -> None:
    """Refuse where PyTorch is not installed, with the command that installs it."""
    if find_spec("torch") is None:
        raise ScenarioError(TORCH)
