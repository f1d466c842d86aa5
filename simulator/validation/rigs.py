"""Which cluster a row ran on: the host of the catalog that has its GPU and network cards, changed where they differ."""

from __future__ import annotations

import re
from functools import cache
from typing import Any, NamedTuple

from simulator import catalog
from simulator.validation import phrases
from simulator.validation.expression import InexpressibleError
from simulator.validation.row import Row

REFERENCE = "NVIDIA"
NETWORKS = (r"omni-?path", r"\befa", r"\broce", r"infiniband|\bib\b")


class Rig(NamedTuple):
    cluster: dict[str, Any]
    gpus_per_host: int
    notes: tuple[str, ...]


class Host(NamedTuple):
    name: str
    gpu: str
    gpus: int
    nics: int
    nic_bandwidth: str
    network: str
    provider: str


def rig(row: Row) -> Rig:
    """Return the cluster of the row: whole hosts, or one host of fewer GPUs where the row has fewer."""
    gpus = row.whole("gpus")
    if gpus is None:
        raise InexpressibleError("the number of GPUs is not stated")
    gpu = gpu_name(row.text("gpu_name") or row.text("gpu"))
    host = nearest(gpu, row)
    size = row.whole("gpus_per_node") or (host.gpus if host else 8)
    notes = () if row.whole("gpus_per_node") or gpus <= size else (f"{size} GPUs a host (the catalog's)",)
    size = min(size, gpus)
    if gpus % size:
        raise InexpressibleError(f"{gpus} GPUs are not whole hosts of {size}")
    return Rig({"host": _host(gpu, size, host, row) | _slice(row, gpus), "hosts": gpus // size}, size, notes)


@cache
def gpu_name(text: str) -> str:
    """Return the catalog's name of a GPU."""
    try:
        return catalog.canonical("gpu", text)
    except catalog.UnknownEntryError:
        raise InexpressibleError(f"no GPU named {text!r} in the catalog") from None


def nearest(gpu: str, row: Row) -> Host | None:
    """Return the host with this GPU that differs least; the same network, then the GPU maker's own, on a tie."""
    size, nics, rate = row.whole("gpus_per_node"), row.whole("nics"), _rate(row)
    words = _networks(row.text("network"))
    return min(
        (host for host in hosts() if host.gpu == gpu),
        key=lambda host: (
            bool(size and host.gpus != size) + bool(nics and (host.nics, host.nic_bandwidth) != (nics, rate)),
            -len(words & _networks(host.network)),
            host.provider != REFERENCE,
            host.name,
        ),
        default=None,
    )


@cache
def hosts() -> tuple[Host, ...]:
    """Return all hosts of the catalog."""
    entries = ((name, catalog.entry("host", name)) for name in catalog.names("host"))
    return tuple(
        Host(
            name=name,
            gpu=catalog.canonical("gpu", entry["gpu"]) if isinstance(entry.get("gpu"), str) else "",
            gpus=int(entry.get("gpus", 0)),
            nics=int(entry.get("nics", 0)),
            nic_bandwidth=entry.get("nic_bandwidth", ""),
            network=entry.get("network", ""),
            provider=entry.get("provider", ""),
        )
        for name, entry in entries
    )


def _host(gpu: str, size: int, host: Host | None, row: Row) -> dict[str, Any]:
    nics, rate = row.whole("nics"), _rate(row)
    cards = {"nics": nics, "nic_bandwidth": rate} if nics and rate else {}
    if host is None:
        return {"gpu": gpu, "gpus": size, "scale_up": {"domain": size}, **cards}
    changed: dict[str, Any] = {} if size == host.gpus else {"gpus": size}
    if cards and (host.nics, host.nic_bandwidth) != (nics, rate):
        changed |= cards
    return {"base": host.name, **changed}


def _slice(row: Row, gpus: int) -> dict[str, Any]:
    """Return the domain of a torus of chips: a slice of the row, as many as it states, one where it states none."""
    if "torus" not in row.text("network").lower() or "ICI" not in row.text("network"):
        return {}
    return {"scale_up": {"domain": gpus // (phrases.slices(row.text("network")) or 1)}}


def _rate(row: Row) -> str:
    rate = row.real("nic_gbps")
    return f"{rate:g}Gbps" if rate else ""


def _networks(text: str) -> frozenset[str]:
    return frozenset(pattern for pattern in NETWORKS if re.search(pattern, text, re.IGNORECASE))
