"""The software that a scenario means where it names none: by the vendor of its GPUs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simulator import catalog
from simulator.errors import ScenarioError
from simulator.scenario.reading import GENERIC, Reading

OF_VENDOR: Mapping[str, str] = {"Google": "maxtext-2025"}
"""TPUs are programmed through XLA, whose memory has no CUDA context, no caching allocator and no gathered layers."""


def default_stack(document: Mapping[str, Any], reading: Reading) -> str:
    """Return the entry of the stack for the GPUs of `document`; mistakes in its cluster are left to others to find."""
    cluster = document.get("cluster")
    host = _entry("host", cluster.get("host") if isinstance(cluster, dict) else None, reading)
    return OF_VENDOR.get(str(_entry("gpu", host.get("gpu"), reading).get("vendor")), GENERIC)


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
