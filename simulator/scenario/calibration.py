"""The `calibration` section: a file that `foretrain calibrate` wrote, factors that measurements put on predictions.

A factor above 1 on a rate says that the machine is faster than the catalog's constants. Factors of a GPU, a host or a
stack hold for that one only; elsewhere they are not applied, and a warning says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from simulator.machine.network import NetworkCalibration
from simulator.scenario import yaml_text
from simulator.scenario.beside import read_file
from simulator.scenario.document import placed
from simulator.scenario.reading import Reading
from simulator.units import Count, Number

if TYPE_CHECKING:
    from simulator.scenario.scenario import Scenario

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
    """Factors on the rate of matrix products, by precision."""
    elementwise: Number = 1.0
    """Factor on the rate of memory-bound kernels."""
    software: Number = 1.0
    """Factor on the rate of all kernels of the stack on this GPU."""
    evidence: tuple[Evidence, ...] = ()
    not_for: str = ""
    """What the factors may not be used for."""

    def holds_for(self, scenario: Scenario, part: str) -> bool:
        """Return whether the factors of `part`, gpu, host or stack, are those of this scenario."""
        gpu = self.gpu in ("", scenario.cluster.host.gpu.name)
        if part == "gpu":
            return gpu
        if part == "stack":
            return gpu and self.stack in ("", scenario.stack_name)
        return self.host in ("", scenario.cluster.host_name)

    def factors(self) -> dict[str, Number]:
        """Return every factor by its dotted key."""
        links = {f"network.{name}": getattr(self.network, name) for name in ("latency", "scale_up", "scale_out")}
        kernels = {f"products.{dtype}": value for dtype, value in self.products.items()}
        return links | kernels | {"elementwise": self.elementwise, "software": self.software}


def resolve(section: str | Mapping[str, Any] | None, reading: Reading) -> Calibration | None:
    """Return what the calibration file says; a mapping is its content."""
    if section is None:
        return None
    content: Any = placed(dict(section), None) if isinstance(section, Mapping) else _read(section, reading)
    if content is None:
        return None
    found = reading.build(Calibration, content, PATH)
    if isinstance(found, Calibration):
        for key, factor in found.factors().items():
            if not SMALLEST <= factor <= LARGEST:
                reading.mistakes.add(
                    (*PATH, *key.split(".")), f"{factor:g} is no factor between {SMALLEST} and {LARGEST:g}"
                )
        return found
    return None


def warnings(scenario: Scenario) -> Iterator[str]:
    """Yield a warning for each part of the calibration that belongs to something else."""
    learned = scenario.calibration
    if learned is None:
        return
    kernels = bool(learned.products) or learned.elementwise != 1
    parts = {
        "gpu": (kernels, learned.gpu, scenario.cluster.host.gpu.name),
        "stack": (learned.software != 1, " on ".join(filter(None, (learned.stack, learned.gpu))), scenario.stack_name),
        "host": (learned.network != NetworkCalibration(), learned.host, scenario.cluster.host_name),
    }
    for part, (says, measured, here) in parts.items():
        if says and not learned.holds_for(scenario, part):
            yield f"calibration: was measured on {measured}, not on {here}; its factors of the {part} are not applied"


def _read(name: str, reading: Reading) -> Any:
    text = read_file(name, PATH, reading)
    content = None if text is None else yaml_text.read(text, name, reading.mistakes)
    if isinstance(content, str) and content:
        reading.mistakes.add(PATH, f"`{name}` is no file that `foretrain calibrate` wrote: it has no keys")
        return None
    return content
