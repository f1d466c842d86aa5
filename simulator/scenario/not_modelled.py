"""Keys that a scenario may name but whose physics is not simulated: refused, never ignored."""

from __future__ import annotations

from typing import Any

from simulator.scenario.document import Keys, Left
from simulator.scenario.mistakes import Mistakes

NOT_MODELLED: dict[str, str] = {
    "training.offload.to=nvme": "the time of NVMe drives",
}
"""Dotted key, or ``key=word``, and what it would need."""


def refuse(document: Any, mistakes: Mistakes) -> None:
    """Note every key of `document` that is not modelled."""
    for rule, physics in NOT_MODELLED.items():
        key, _, word = rule.partition("=")
        path: Keys = tuple(key.split("."))
        found = document
        for part in path:
            found = found.get(part) if isinstance(found, dict) else None
        if found is None or isinstance(found, Left) or (word and word not in (found, _kind(found))):
            continue
        mistakes.add(path, f"not yet modelled: {physics}; leave it out", key=not word)


def _kind(found: Any) -> Any:
    return found.get("kind") if isinstance(found, dict) else None
