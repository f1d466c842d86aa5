"""Sections that came from another format, as the text of a scenario."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from types import ModuleType
from typing import Any

import yaml

from simulator import catalog, convert
from simulator.errors import ScenarioError

ORDER = ("model", "cluster", "parallelism", "training")
NEEDED = {
    "model": "model: llama-3.1-8b        # a name of `foretrain catalog model`, or a shape",
    "cluster": "cluster: {host: hgx-h100, hosts: 1}",
    "training": "training: {tokens: 1T, sequence_length: 8192, global_batch: 512, microbatch: 1}",
}
"""What a scenario cannot do without, as it could be written."""


def known(name: str) -> ModuleType:
    """Return the format `name`, or say which there are."""
    formats = convert.formats()
    if name not in formats:
        near = get_close_matches(name, formats, n=1)
        hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(formats)}"
        raise ScenarioError(f"no format named {name[:60]!r}; {hint}")
    return formats[name]


def cluster(host: str | None, hosts: int | None) -> dict[str, Any]:
    """Return a cluster section; the host has to be one of the catalog."""
    if host is None:
        raise ScenarioError("--hosts needs --host, the kind of machine; `foretrain catalog host` lists them")
    return {"host": catalog.canonical("host", host), "hosts": hosts or 1}


def text(sections: Mapping[str, Any], origin: str) -> str:
    """Return sections as YAML; what is missing for a scenario stands there as a comment."""
    lines = [f"# Translated from {origin} by `foretrain import`.", "version: 1"]
    for name in ORDER:
        if name in sections:
            lines.append(yaml.safe_dump({name: sections[name]}, sort_keys=False, default_flow_style=None).rstrip())
        elif name in NEEDED:
            lines.append(f"# {NEEDED[name]}")
    return "\n".join(lines) + "\n"
