"""The `calibration` section: a file that `foretrain calibrate` wrote, factors that measurements put on predictions.

A factor above 1 on a rate says that the machine is faster than the catalog's constants. Factors of a GPU, a host or a
stack hold for that one only; elsewhere they are not applied, and a warning says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from simulator.machine.network import NetworkCalibration
from simulator.scenario import yaml_text
from simulator.scenario.beside import read_file
from simulator.scenario.derive import build
from simulator.scenario.document import Table, placed
from simulator.scenario.reading import Reading
from simulator.scenario.shape import shape
from simulator.scenario.unquoted import Unquoted
from simulator.units import BytesPerSecond, Count, Number, Seconds, Share

PATH = ("calibration",)
SMALLEST, LARGEST = 0.001, 1000.0
"""Factors beyond these are a mistake; processes that talk over sockets of one machine have a hundred times the latency
of GPUs on NVLink."""


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """What a factor was learned from, and how wrong predictions of it were before and after."""

    source: str
    rows: Count
    before: Number
    after: Number


@dataclass(frozen=True, kw_only=True)
class Kernel:
    """Constants of matrix products in one precision, fitted to a table; see `simulator.machine.kernels.gemm`."""

    rate: Share
    """Rate of an infinitely wide tile over the peak, at the full clock."""
    edge: Number
    """Width of a tile that loses as much at its edges as it multiplies."""
    memory: Share
    """Delivered over nominal memory bandwidth."""
    l2: BytesPerSecond
    """Bandwidth of the second-level cache for each multiprocessor."""
    start: Seconds
    """Start and end of a kernel."""
    throttle: Share
    """Share of the peak above which the clock falls under the power limit."""


@dataclass(frozen=True, kw_only=True)
class Calibration:
    gpu: str = ""
    """The GPU that was measured; the factors on products, elementwise kernels and software hold for it."""
    host: str = ""
    """The host whose network was measured."""
    stack: str = ""
    """The software that was measured; its factor holds for it."""
    network: NetworkCalibration = field(default_factory=NetworkCalibration)
    """Factors on latency and on the bandwidth inside and across hosts."""
    products: Mapping[str, Number] = field(default_factory=dict)
    """Factors on the rate of matrix products, by precision, where rows are few."""
    kernels: Mapping[str, Kernel] = field(default_factory=dict)
    """Constants of matrix products, by precision, where there are enough rows to fit them."""
    elementwise: Number = 1.0
    """Factor on the rate of memory-bound kernels."""
    software: Number = 1.0
    """Factor on the rate of all kernels of the stack on this GPU."""
    evidence: tuple[Evidence, ...] = ()
    not_for: str = ""
    """What the factors may not be used for."""

    def factors(self) -> dict[str, Number]:
        """Return every factor by its dotted key."""
        links = {f"network.{name}": getattr(self.network, name) for name in ("latency", "scale_up", "scale_out")}
        kernels = {f"products.{dtype}": value for dtype, value in self.products.items()}
        return links | kernels | {"elementwise": self.elementwise, "software": self.software}


def resolve(section: str | Mapping[str, Any] | None, reading: Reading) -> Calibration | None:
    """Return what the calibration file says; a mapping is its content."""
    if section is None:
        return None
    mistakes, content = reading.mistakes, None
    if isinstance(section, Mapping):
        content = placed(dict(section), None)
    elif (text := read_file(section, PATH, reading)) is not None:
        mistakes = Unquoted(mistakes, shape(Calibration), PATH, "no file that `foretrain calibrate` wrote")
        content = yaml_text.read(text, section, mistakes)
        if content is not None and not isinstance(content, Table):
            mistakes.add(PATH, "it has no keys", data=content, above=1)
    found = build(shape(Calibration), content, PATH, mistakes) if isinstance(content, Table) else None
    if not isinstance(found, Calibration):
        return None
    for key, factor in found.factors().items():
        if not SMALLEST <= factor <= LARGEST:
            said = f"expected factors between {SMALLEST} and {LARGEST:g}"
            reading.mistakes.add((*PATH, key.partition(".")[0]), said, data=content, above=1)
    return found
