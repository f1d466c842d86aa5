"""The software that a scenario means where it names none: by who made its GPUs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simulator import catalog
from simulator.errors import ScenarioError
from simulator.scenario.reading import GENERIC, Reading

OF_MAKER: Mapping[str, str] = {
    "Google": "maxtext-2025",
    "AWS": "neuronx-distributed-2024",
    "gaudi-2": "megatron-deepspeed-gaudi-2024",
    "gaudi-3": "megatron-deepspeed-gaudi-2024",
    "xe-hpc": "megatron-deepspeed-intel-2025",
}
"""By vendor, or by architecture where a vendor has several. Compiled programs of TPUs, Trainium and Gaudi have no CUDA
context, no caching allocator and, where XLA shards weights, no gathered layers."""


def default_stack(document: Mapping[str, Any], reading: Reading) -> str:
    """Return the entry of the stack for the GPUs of `document`; mistakes in its cluster are left to others to find."""
    cluster = document.get("cluster")
    host = _entry("host", cluster.get("host") if isinstance(cluster, dict) else None, reading)
    gpu = _entry("gpu", host.get("gpu"), reading)
    makers = (str(gpu.get(word)) for word in ("vendor", "architecture"))
    return next((OF_MAKER[maker] for maker in makers if maker in OF_MAKER), GENERIC)


def _entry(kind: str, said: Any, reading: Reading) -> Mapping[str, Any]:
    """Return what a name of the catalog, or a mapping that may have a `base`, says of itself."""
    written = said if isinstance(said, dict) else {"base": said}
    base = written.get("base")
    if not isinstance(base, str):
        return written
    try:
        name = catalog.canonical(kind, str(base), reading.catalogs)
        return catalog.entry(kind, name, reading.catalogs) | written
    except ScenarioError:
        return written
