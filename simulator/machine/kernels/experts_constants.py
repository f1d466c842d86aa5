"""The measured constants of a layer of experts: what its grouped kernels do otherwise than single products.

By module (`whole`: with the routing of all tokens; `dispatched`: only of rows that have come), number format and
architecture, and by GPU where it was measured itself. What is not named here is that of single products: the clock, the
cache, how multiplying and moving overlap. They are read when a layer of experts is timed for the first time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from simulator import catalog, units
from simulator.errors import ScenarioError
from simulator.machine.kernels import gemm
from simulator.machine.kernels.constants import overlaid
from simulator.units import BytesPerSecond, Number, Seconds, Share

if TYPE_CHECKING:
    from simulator.machine.hardware import Gpu
    from simulator.machine.kernels.constants import ProductConstants

TABLE = "experts"
"""The catalog entry."""
WHOLE, DISPATCHED = "whole", "dispatched"


@dataclass(frozen=True, kw_only=True)
class ExpertsConstants:
    """A layer of experts in one number format; see `simulator.machine.kernels.experts`."""

    start: Seconds
    """Starts of all kernels of the layer."""
    rate: Share
    """Rate of an infinitely wide tile of a grouped product over the peak, at the full clock."""
    edge: Number
    """Width of a tile that loses as much at its edges as it multiplies."""
    load: BytesPerSecond
    """What one multiprocessor loads, which binds narrow tiles."""
    fill: Seconds
    """Time until the first tile multiplies."""
    epilogue: Seconds
    """Time to write out a tile of 128 x 256 that no multiplying hides."""
    tail: Share
    """Share of the last, partly filled wave of tiles that is waited for."""
    memory: Share
    """Delivered over nominal memory bandwidth in the products."""
    copies: Share
    """Delivered over nominal memory bandwidth in the passes around them."""
    activation: Number
    """Passes of the activation that are kernels of their own: below 1 where the product's end does part of it."""
    token: Seconds
    """Routing kernels, for a token."""
    pair: Seconds
    """Search for the own rows, for a pair of token and expert."""

    def product(self, single: ProductConstants) -> ProductConstants:
        """Return the constants of grouped products beside those of `single` ones; they never split the depth."""
        own = {name: getattr(self, name) for name in ("rate", "edge", "load", "fill", "epilogue", "tail", "memory")}
        return replace(single, **own, start=0.0, parts=1, split=0.0, passes=0.0)


def of_gpu(gpu: Gpu, dtype: str, module: str = WHOLE) -> ExpertsConstants:
    """Return the constants of a GPU in a number format; raises ScenarioError where there is no model of the format."""
    return _of(gpu.name, gpu.architecture, dtype, module)


@lru_cache(maxsize=256)
def _of(name: str, architecture: str, dtype: str, module: str) -> ExpertsConstants:
    modules = _merged(catalog.entry("calibration", TABLE), name, architecture)
    known: str | None = dtype
    while known is not None and known not in modules[WHOLE]:
        known = gemm.MEASURED_AS.get(known)
    if known is None:
        raise ScenarioError(f"there is no model of experts in {dtype}; there is one of {', '.join(modules[WHOLE])}")
    return constants(modules[module].get(known, modules[WHOLE][known]))


def _merged(table: Mapping[str, Any], name: str, architecture: str) -> dict[str, Any]:
    merged: dict[str, Any] = table["default"]
    for overlay in (table["architectures"].get(architecture, {}), table["gpus"].get(name, {})):
        merged = overlaid(merged, overlay)
    return merged


def constants(values: Mapping[str, str]) -> ExpertsConstants:
    """Return the constants that an entry of `experts.yaml` says."""
    return ExpertsConstants(**{name: units.parse(text, _unit(text)) for name, text in values.items()})


def _unit(text: str) -> str:
    return "B/s" if text.endswith("B/s") else "s" if text.endswith("s") else "number"
