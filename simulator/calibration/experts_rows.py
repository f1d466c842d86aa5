"""Rows of tables of measured expert layers, as what their benchmark does on the measured rank."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

from simulator.calibration import kernels
from simulator.machine import hardware
from simulator.machine.kernels.experts import Layer
from simulator.units import Seconds
from simulator.validation.expert_layers import SHAPE, of_row


class Measured(NamedTuple):
    """One measured layer of experts."""

    gpu: str
    dtype: str
    module: str
    layer: Layer
    seconds: Seconds
    half: int
    """0 or 1, by a hash of the shape: rows of one shape are fitted or left out together on all GPUs."""


def rows(path: Path) -> list[Measured]:
    """Return the rows of a table of expert layers."""
    return [_measured(row.get) for row in kernels.table(path)]


def _measured(text: Callable[[str], str | None]) -> Measured:
    module, layer = of_row(hardware.gpu(str(text("gpu"))), text)
    shape = " ".join(str(text(name)) for name in SHAPE)
    half = crc32(shape.encode()) % 2
    return Measured(str(text("gpu")), str(text("dtype")), module, layer, float(text("time_us") or 0) * 1e-6, half)
