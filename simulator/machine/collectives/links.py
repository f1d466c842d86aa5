"""What collectives attain of links: the constants of each generation, from ``catalog/calibration/links.yaml``."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from simulator import catalog
from simulator.units import Seconds, Share, parse


@dataclass(frozen=True, kw_only=True)
class ScaleUpLinks:
    ring: Share


@dataclass(frozen=True, kw_only=True)
class ScaleOutLinks:
    efficiency: Share
    switch_latency: Seconds


@cache
def _entry() -> dict:
    return catalog.entry("calibration", "links")


@cache
def fabric_of(kind: str, architecture: str) -> str:
    """Return the entry for scale-up links by their kind ("NVLink4 NVSwitch SHARP"), else by the architecture."""
    fabrics = _entry()["fabrics"]
    matches = [(len(prefix), name) for name, f in fabrics.items() for prefix in f["kinds"] if kind.startswith(prefix)]
    if matches:
        return max(matches)[1]
    return next((name for name, f in fabrics.items() if architecture in f["architectures"]), "pcie")


@cache
def fabric(name: str) -> ScaleUpLinks:
    return ScaleUpLinks(ring=float(_entry()["fabrics"][name]["ring"]))


@cache
def network_of(name: str) -> ScaleOutLinks:
    networks = _entry()["networks"]
    found = networks.get(name, networks["infiniband"])
    return ScaleOutLinks(efficiency=float(found["efficiency"]), switch_latency=parse(found["switch_latency"], "s"))
