"""The `prices` section: what a GPU-hour and its electricity cost, and on which terms it is rented."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from simulator import catalog
from simulator.machine.hardware import Gpu
from simulator.scenario.document import placed
from simulator.scenario.entries import unknown
from simulator.scenario.reading import Reading
from simulator.units import DollarsPerHour, DollarsPerKilowattHour, KilogramsPerKilowattHour, Number, Share

Terms = Literal["on-demand", "reserved", "spot"]


@dataclass(frozen=True, kw_only=True)
class PricesSection:
    short_for = "base"
    base: str = "default"
    """An entry of the catalog from which all that is left out is taken."""
    gpu_hour: DollarsPerHour | None = None
    """Of every rented GPU, spares included."""
    terms: Terms = "on-demand"
    """On which terms `gpu_hour` is looked up where it is left out."""
    electricity: DollarsPerKilowattHour = 0.0
    """Paid beside the rent, as owners do; a rented GPU-hour includes its power."""
    pue: Number | None = None
    """Power of the building over power of the machines."""
    carbon: KilogramsPerKilowattHour | None = None
    """CO2 of the electricity."""


@dataclass(frozen=True, kw_only=True)
class Prices:
    gpu_hour: DollarsPerHour
    terms: Terms
    electricity: DollarsPerKilowattHour
    pue: Number
    carbon: KilogramsPerKilowattHour


@dataclass(frozen=True, kw_only=True)
class PriceEntry:
    """What an entry of the catalog says."""

    gpu_hour: Mapping[str, DollarsPerHour]
    per_petaflop: DollarsPerHour
    """Of one dense bf16 PFLOP/s, for a GPU that is not listed."""
    reserved: Share = 1.0
    spot: Share = 1.0
    pue: Number
    carbon: KilogramsPerKilowattHour


def resolve(section: PricesSection, gpu: Gpu, reading: Reading) -> Prices | None:
    """Return the prices of `gpu`; what the section leaves out is the catalog's."""
    entry = _entry(section.base, reading)
    if entry is None:
        return None
    found = {
        "gpu_hour": _gpu_hour(entry, gpu, section.terms),
        "pue": entry.pue,
        "carbon": entry.carbon,
    }
    written = {key: getattr(section, key) for key in found if getattr(section, key) is not None}
    return Prices(terms=section.terms, electricity=section.electricity, **found | written)


def list_price(gpu: Gpu, terms: Terms) -> DollarsPerHour:
    """Return what the catalog asks for a GPU-hour."""
    entry = _entry(PricesSection.base, Reading())
    assert entry is not None
    return _gpu_hour(entry, gpu, terms)


def _gpu_hour(entry: PriceEntry, gpu: Gpu, terms: Terms) -> float:
    bf16 = gpu.peak.get("bf16", gpu.peak.get("fp16", max(gpu.peak.values())))
    listed = entry.gpu_hour.get(gpu.name, entry.per_petaflop * bf16 / 1e15)
    return listed * {"on-demand": 1.0, "reserved": entry.reserved, "spot": entry.spot}[terms]


def _entry(name: str, reading: Reading) -> PriceEntry | None:
    try:
        found = catalog.entry("prices", name, reading.catalogs)
    except catalog.UnknownEntryError as error:
        reading.mistakes.add(("prices", "base"), unknown("prices", name, error.suggestions))
        return None
    known = {key: value for key, value in found.items() if key in PriceEntry.__dataclass_fields__}
    entry: PriceEntry | None = reading.build(PriceEntry, placed(known, None), ("prices", "base"))
    return entry
